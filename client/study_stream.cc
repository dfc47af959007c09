#include "client/study_stream.h"

#include <limits>

namespace espalier {
namespace {

// Errors come after every value.
constexpr std::int64_t kLastOrder = std::numeric_limits<std::int64_t>::max();

}  // namespace

StudyStream::~StudyStream() {
  if (number_) connection_->events().Remove(*number_);
  End(Error{ErrorCode::kAborted, "the study's events are no longer read", {}});
}

Future<Evaluation> StudyStream::FutureOf(ClaimId claim, std::function<Result<void>()> cancel) {
  const std::lock_guard lock(mutex_);
  Begin();
  const auto [it, inserted] = promises_.try_emplace(claim);
  it->second.set_cancel(std::move(cancel));
  if (inserted && ended_.has_value()) it->second.Settle(tl::unexpected<Error>(*ended_), kLastOrder);
  return it->second.future();
}

Result<bool> StudyStream::WaitUntilFinished(Seconds patience) {
  std::unique_lock lock(mutex_);
  Begin();
  const auto over = [&] { return finished_ || ended_.has_value(); };
  if (patience == Seconds::max()) {
    changed_.wait(lock, over);
  } else {
    changed_.wait_for(lock, patience, over);
  }
  if (!finished_ && ended_.has_value()) return tl::unexpected<Error>(*ended_);
  return finished_;
}

void StudyStream::Begin() {
  if (!number_) number_ = connection_->events().Add(study_, this);
}

void StudyStream::Take(const std::vector<StudyEvent>& events) {
  std::vector<std::pair<Promise<Evaluation>, const ClaimSettled*>> settled;
  {
    const std::lock_guard lock(mutex_);
    for (const StudyEvent& event : events) {
      if (const auto* one = std::get_if<ClaimSettled>(&event)) settled.emplace_back(promises_[one->claim], one);
    }
  }
  for (auto& [promise, evaluation] : settled) {
    if (!promise.future().Ready()) promise.Settle(*evaluation, settled_count_++);
  }
  const std::lock_guard lock(mutex_);
  for (const StudyEvent& event : events) finished_ |= std::holds_alternative<StudyFinished>(event);
  if (finished_) changed_.notify_all();
}

void StudyStream::End(const Error& error) {
  std::vector<Promise<Evaluation>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (ended_.has_value()) return;
    ended_ = error;
    for (const auto& [claim, promise] : promises_) {
      if (!promise.future().Ready()) waiting.push_back(promise);
    }
    changed_.notify_all();
  }
  for (Promise<Evaluation>& promise : waiting) promise.Settle(tl::unexpected<Error>(error), kLastOrder);
}

}  // namespace espalier
