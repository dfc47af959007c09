#include "client/study_events.h"

#include <utility>

#include "base/clock.h"
#include "client/convert.h"

namespace espalier {

StudyEvents::~StudyEvents() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (call_ != nullptr) call_->Cancel();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::int64_t StudyEvents::Add(StudyId study, StudyListener* listener) {
  const std::lock_guard lock(mutex_);
  const std::int64_t number = ++last_number_;
  const auto added = listening_.emplace(number, Listening{.study = study, .listener = listener}).first;
  if (call_ != nullptr) call_->Send(BeginOf(number, added->second));
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_all();
  return number;
}

void StudyEvents::Remove(std::int64_t number) {
  std::unique_lock lock(mutex_);
  if (listening_.erase(number) > 0 && call_ != nullptr) {
    v1::WatchStudiesRequest request;
    request.set_watch_id(number);
    request.mutable_end();
    call_->Send(request);
    EndIfIdle();
  }
  changed_.wait(lock, [&] { return called_ != number; });
}

void StudyEvents::EndIfIdle() {
  if (!listening_.empty()) return;
  is_idle_ = true;
  call_->Cancel();
}

v1::WatchStudiesRequest StudyEvents::BeginOf(std::int64_t number, const Listening& listening) {
  v1::WatchStudiesRequest request;
  request.set_watch_id(number);
  request.mutable_begin()->set_study_id(listening.study.value);
  request.mutable_begin()->set_from_event(listening.next);
  if (listening.next > 1) *request.mutable_begin()->mutable_previous_happened_at() = listening.previous_happened_at;
  return request;
}

void StudyEvents::Run() {
  reading_ = std::this_thread::get_id();
  Lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !listening_.empty(); });
    if (stopped_) return;
    const std::shared_ptr<StudiesCall> call = Open(lock);
    lock.unlock();
    call->Begin();
    v1::WatchStudiesResponse response;
    while (call->Read(response)) Take(response);
    const Result<void> outcome = call->Finish();
    lock.lock();
    call_.reset();
    AfterEnd(lock, outcome);
  }
}

std::shared_ptr<StudiesCall> StudyEvents::Open(const Lock&) {
  call_ = connection_.WatchStudies();
  for (const auto& [number, listening] : listening_) call_->Send(BeginOf(number, listening));
  return call_;
}

void StudyEvents::Take(const v1::WatchStudiesResponse& response) {
  Lock lock(mutex_);
  attempt_ = 0;
  lost_at_.reset();
  const std::int64_t number = response.watch_id();
  const auto found = listening_.find(number);
  if (found == listening_.end()) return;  // it was removed meanwhile
  std::vector<StudyEvent> events;
  for (const v1::StudyEvent& event : response.events()) {
    if (event.number() < found->second.next) continue;
    found->second.next = event.number() + 1;
    found->second.previous_happened_at = event.happened_at();
    if (std::optional<StudyEvent> known = FromWire(event)) events.push_back(*std::move(known));
  }
  StudyListener* const listener = found->second.listener;
  if (response.has_ended()) {
    listening_.erase(found);
    EndIfIdle();
  }
  CallListener(lock, number, [&] {
    if (!events.empty()) listener->Take(events);
    if (response.has_ended() && response.ended().status() != 0) listener->End(WhyEnded(response.ended()));
  });
}

void StudyEvents::AfterEnd(Lock& lock, const Result<void>& outcome) {
  if (stopped_ || std::exchange(is_idle_, false)) return;
  const RetryPolicy& policy = connection_.policy();
  const Seconds pause = PauseBefore(policy, attempt_++);
  if (!outcome.has_value()) {
    if (!MayRetry(outcome.error())) return EndAll(lock, outcome.error());
    lost_at_ = lost_at_.value_or(MonotonicNow());
    if (MonotonicNow() - *lost_at_ + pause > policy.call_patience) return EndAll(lock, GivenUp(outcome.error()));
  }
  changed_.wait_for(lock, pause, [&] { return stopped_; });
}

void StudyEvents::EndAll(Lock& lock, const Error& error) {
  attempt_ = 0;
  lost_at_.reset();
  // Those that wait now: a listener that is told may make that others are added.
  for (const std::int64_t last = last_number_; !listening_.empty() && listening_.begin()->first <= last;) {
    const auto [number, listening] = *listening_.begin();
    listening_.erase(listening_.begin());
    CallListener(lock, number, [&, listener = listening.listener] { listener->End(error); });
  }
}

template <class Call>
void StudyEvents::CallListener(Lock& lock, std::int64_t number, const Call& call) {
  called_ = number;
  lock.unlock();
  call();
  lock.lock();
  called_.reset();
  changed_.notify_all();
}

}  // namespace espalier
