#include "client/study_stream.h"

#include <limits>

namespace espalier {
namespace {

ClaimState StateOf(v1::ClaimSettled::State state) {
  switch (state) {
    case v1::ClaimSettled::STATE_DONE:
      return ClaimState::kDone;
    case v1::ClaimSettled::STATE_CANCELLED:
      return ClaimState::kCancelled;
    default:
      return ClaimState::kFailed;
  }
}

Evaluation ToEvaluation(const v1::ClaimSettled& settled) {
  return Evaluation{.trial = TrialId{settled.trial_id()},
                    .claim = ClaimId{settled.claim_id()},
                    .step = Step{settled.step()},
                    .state = StateOf(settled.state()),
                    .metrics = {settled.metrics().begin(), settled.metrics().end()},
                    .message = settled.message()};
}

// Errors come after every value.
constexpr std::int64_t kLastOrder = std::numeric_limits<std::int64_t>::max();

}  // namespace

StudyStream::StudyStream(std::shared_ptr<Connection> connection, StudyId study)
    : connection_(std::move(connection)), study_(study), thread_([this] { Run(); }) {}

StudyStream::~StudyStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->Cancel();
    changed_.notify_all();
  }
  thread_.join();
  End(Error{ErrorCode::kAborted, "the study's events are no longer read", {}});
}

Future<Evaluation> StudyStream::FutureOf(ClaimId claim) {
  const std::lock_guard lock(mutex_);
  const auto [it, inserted] = promises_.try_emplace(claim);
  if (inserted && ended_.has_value()) it->second.Settle(tl::unexpected<Error>(*ended_), kLastOrder);
  return it->second.future();
}

std::optional<v1::StudyProgress> StudyStream::Progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

Result<bool> StudyStream::WaitUntilFinished(Seconds patience) const {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return finished_ || ended_.has_value(); };
  if (patience == Seconds::max()) {
    changed_.wait(lock, over);
  } else {
    changed_.wait_for(lock, patience, over);
  }
  if (!finished_ && ended_.has_value()) return tl::unexpected<Error>(*ended_);
  return finished_;
}

void StudyStream::Run() {
  while (true) {
    const Result<void> outcome = ReadOnce();
    {
      const std::lock_guard lock(mutex_);
      if (finished_ || stopping_) return;
    }
    if (!outcome.has_value() && !MayRetry(outcome.error())) {
      End(outcome.error());
      return;
    }
    if (!Pause(PauseBefore(connection_->policy(), attempt_++))) return;
  }
}

Result<void> StudyStream::ReadOnce() {
  v1::WatchRequest request;
  request.set_study_id(study_.value);
  request.set_from_event(next_event_);
  std::unique_ptr<WatchCall> call = connection_->Watch(request);
  WatchCall& reading = *call;
  {
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
    if (stopping_) call_->Cancel();
  }
  v1::WatchResponse response;
  while (reading.Read(response)) Take(response);
  return reading.Finish();
}

void StudyStream::Take(const v1::WatchResponse& response) {
  const std::lock_guard lock(mutex_);
  attempt_ = 0;
  if (response.has_progress()) progress_ = response.progress();
  for (const v1::StudyEvent& event : response.events()) {
    if (event.number() < next_event_) continue;
    next_event_ = event.number() + 1;
    if (event.has_claim_settled()) Settle(event.claim_settled(), event.number());
    finished_ = finished_ || event.has_study_finished();
  }
  if (finished_) changed_.notify_all();
}

void StudyStream::Settle(const v1::ClaimSettled& settled, std::int64_t order) {
  Promise<Evaluation>& promise = promises_[ClaimId{settled.claim_id()}];
  if (!promise.future().Ready()) promise.Settle(ToEvaluation(settled), order);
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

bool StudyStream::Pause(Seconds pause) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, pause, [&] { return stopping_; });
  return !stopping_;
}

}  // namespace espalier
