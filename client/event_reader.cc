#include "client/event_reader.h"

#include "base/clock.h"
#include "client/connection.h"
#include "client/convert.h"

namespace espalier {

Result<EventsRead> EventReader::Next() {
  if (finished_) return EventsRead{};
  while (true) {
    if (call_ == nullptr && !Open()) return MakeError(ErrorCode::kAborted, "the study's events are no longer read");
    v1::WatchResponse response;
    if (call_->Read(response)) {
      attempt_ = 0;
      lost_at_.reset();
      if (std::optional<EventsRead> read = Take(response)) return *std::move(read);
    } else if (const std::optional<Error> error = AfterEnd()) {
      return tl::unexpected<Error>(*error);
    }
  }
}

void EventReader::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (call_ != nullptr) call_->Cancel();
  cancelled_changed_.notify_all();
}

bool EventReader::Open() {
  v1::WatchRequest request;
  request.set_study_id(study_.value);
  request.set_from_event(next_);
  if (next_ > 1) *request.mutable_previous_happened_at() = previous_happened_at_;
  request.set_tunes(tunes_);
  std::unique_ptr<WatchCall> call = port_.Watch(request);
  const std::lock_guard lock(mutex_);
  call_ = std::move(call);
  if (cancelled_) call_->Cancel();
  return !cancelled_;
}

std::optional<Error> EventReader::AfterEnd() {
  const Result<void> outcome = call_->Finish();
  std::unique_lock lock(mutex_);
  call_.reset();
  if (cancelled_) return Error{ErrorCode::kAborted, "the study's events are no longer read", {}};
  const Seconds pause = PauseBefore(port_.policy(), attempt_++);
  if (!outcome.has_value()) {
    if (!MayRetry(outcome.error())) return outcome.error();
    if (!lost_at_ && on_lost_) on_lost_();
    lost_at_ = lost_at_.value_or(MonotonicNow());
    if (MonotonicNow() - *lost_at_ + pause > port_.policy().call_patience) return GivenUp(outcome.error());
  }
  cancelled_changed_.wait_for(lock, pause, [&] { return cancelled_; });
  return std::nullopt;
}

std::optional<EventsRead> EventReader::Take(const v1::WatchResponse& response) {
  EventsRead read;
  for (const v1::StudyEvent& event : response.events()) {
    if (event.number() < next_) continue;
    next_ = event.number() + 1;
    previous_happened_at_ = event.happened_at();
    if (std::optional<StudyEvent> known = FromWire(event)) read.events.push_back(*std::move(known));
    finished_ = finished_ || event.has_study_finished();
  }
  if (response.has_progress()) read.progress = response.progress();
  if (read.events.empty() && !read.progress) return std::nullopt;
  return read;
}

}  // namespace espalier
