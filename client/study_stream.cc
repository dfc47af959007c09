#include "client/study_stream.h"

#include <limits>

namespace espalier {
namespace {

// Errors come after every value.
constexpr std::int64_t kLastOrder = std::numeric_limits<std::int64_t>::max();

}  // namespace

StudyStream::~StudyStream() {
  reader_.Cancel();
  if (thread_.joinable()) thread_.join();
  End(Error{ErrorCode::kAborted, "the study's events are no longer read", {}});
}

Future<Evaluation> StudyStream::FutureOf(ClaimId claim) {
  const std::lock_guard lock(mutex_);
  Begin();
  const auto [it, inserted] = promises_.try_emplace(claim);
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
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void StudyStream::Run() {
  while (true) {
    const Result<EventsRead> read = reader_.Next();
    if (!read.has_value()) return End(read.error());
    Take(*read);
    const std::lock_guard lock(mutex_);
    if (finished_) return;
  }
}

void StudyStream::Take(const EventsRead& read) {
  const std::lock_guard lock(mutex_);
  for (const StudyEvent& event : read.events) {
    if (const auto* settled = std::get_if<ClaimSettled>(&event)) {
      Promise<Evaluation>& promise = promises_[settled->claim];
      if (!promise.future().Ready()) promise.Settle(*settled, settled_count_++);
    }
    finished_ |= std::holds_alternative<StudyFinished>(event);
  }
  if (finished_) changed_.notify_all();
}

void StudyStream::End(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (ended_.has_value()) return;
  ended_ = error;
  for (auto& [claim, promise] : promises_) {
    if (!promise.future().Ready()) promise.Settle(tl::unexpected<Error>(error), kLastOrder);
  }
  changed_.notify_all();
}

}  // namespace espalier
