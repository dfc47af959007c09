#include "master/rpc/study_watch.h"

#include <algorithm>
#include <utility>

namespace espalier::master {
namespace {

// Kept for a call that is slow to send them; it asks the event loop for what is beyond.
constexpr std::size_t kEventsKeptMax = 10'000;

}  // namespace

std::optional<std::int64_t> StudyWatch::Group::Next(std::chrono::milliseconds at_most) {
  std::unique_lock lock(watch_.mutex_);
  changed_->wait_for(lock, at_most, [&] { return watch_.stopped_ || woken_ || !ready_.empty(); });
  if (std::exchange(woken_, false) || watch_.stopped_ || ready_.empty()) return std::nullopt;
  const std::int64_t number = ready_.front();
  ready_.pop_front();
  is_ready_.erase(number);
  return number;
}

void StudyWatch::Group::PutBack(std::int64_t number) {
  const std::lock_guard lock(watch_.mutex_);
  Add(number);
}

void StudyWatch::Group::Wake() {
  const std::lock_guard lock(watch_.mutex_);
  woken_ = true;
  changed_->notify_one();
}

void StudyWatch::Group::Add(std::int64_t number) {
  if (is_ready_.insert(number).second) ready_.push_back(number);
}

StudyWatch::Listener::Listener(StudyWatch& watch, StudyId study, Group* group, std::int64_t number)
    : watch_(watch),
      group_(group),
      number_(number),
      changed_(group != nullptr ? group->changed_ : std::make_shared<std::condition_variable>()) {
  const std::lock_guard lock(watch_.mutex_);
  place_ = watch_.listeners_.emplace(study, this);
}

StudyWatch::Listener::~Listener() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.listeners_.erase(place_);
}

void StudyWatch::Listener::Take(const EventsAdded& added) {
  if (group_ != nullptr) group_->Add(number_);
  if (added.first != End() || events_.size() + added.events.size() > kEventsKeptMax) {
    events_.clear();
    first_ = added.first;
  }
  if (added.events.size() <= kEventsKeptMax) {
    events_.insert(events_.end(), added.events.begin(), added.events.end());
  } else {
    first_ += static_cast<std::int64_t>(added.events.size());
  }
}

std::optional<std::vector<StudyEvent>> StudyWatch::Listener::Next(std::int64_t next,
                                                                  std::chrono::milliseconds at_most) {
  std::unique_lock lock(watch_.mutex_);
  const bool some = changed_->wait_for(lock, at_most, [&] { return watch_.stopped_ || End() > next || first_ > next; });
  if (!some || watch_.stopped_ || first_ > next) return std::nullopt;
  return TakeFrom(next);
}

std::optional<std::vector<StudyEvent>> StudyWatch::Listener::Poll(std::int64_t next) {
  const std::lock_guard lock(watch_.mutex_);
  if (first_ > next) return std::nullopt;
  if (End() <= next) return std::vector<StudyEvent>();
  return TakeFrom(next);
}

std::vector<StudyEvent> StudyWatch::Listener::TakeFrom(std::int64_t next) {
  std::vector<StudyEvent> events = std::exchange(events_, {});
  events.erase(events.begin(), events.begin() + (next - first_));
  first_ = next + static_cast<std::int64_t>(events.size());
  return events;
}

StudyWatch::Tuning::Tuning(StudyWatch& watch, StudyId study) : watch_(watch) {
  const std::lock_guard lock(watch_.mutex_);
  place_ = watch_.tuned_.insert(study);
}

StudyWatch::Tuning::~Tuning() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.tuned_.erase(place_);
}

std::set<StudyId> StudyWatch::Tuned() {
  const std::lock_guard lock(mutex_);
  return {tuned_.begin(), tuned_.end()};
}

void StudyWatch::Announce(const EventsAdded& added) {
  std::vector<std::shared_ptr<std::condition_variable>> changed;
  {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = listeners_.equal_range(added.study);
    std::for_each(begin, end, [&](const auto& entry) {
      entry.second->Take(added);
      changed.push_back(entry.second->changed_);
    });
  }
  for (const auto& each : changed) each->notify_one();
}

void StudyWatch::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const auto& [study, listener] : listeners_) listener->changed_->notify_one();
}

bool StudyWatch::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace espalier::master
