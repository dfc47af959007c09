// Brings a study's new events to the calls that stream them, past the event loop. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "master/core/effect.h"

namespace espalier::master {

class StudyWatch {
 public:
  // The listeners of one call that streams several studies' events, by numbers of the call's own: which of them have
  // news. One thread waits. REQUIRES: it outlives them.
  class Group {
   public:
    explicit Group(StudyWatch& watch) : watch_(watch) {}

    // Whose turn it is: the next that was told of events, or put back. None when the time is over, after Wake, and when
    // stopped.
    std::optional<std::int64_t> Next(std::chrono::milliseconds at_most);
    // Behind all others, once.
    void PutBack(std::int64_t number);
    // From any thread.
    void Wake();

   private:
    friend class StudyWatch;
    void Add(std::int64_t number);  // REQUIRES: the watch's mutex is held

    StudyWatch& watch_;
    const std::shared_ptr<std::condition_variable> changed_ = std::make_shared<std::condition_variable>();
    std::deque<std::int64_t> ready_;
    std::set<std::int64_t> is_ready_;  // those in `ready_`
    bool woken_ = false;
  };

  // A call that streams a study's events. Is given those that are announced while it exists. One thread.
  class Listener {
   public:
    // `group`: whose number `number` this is; null: who waits does so in Next.
    Listener(StudyWatch& watch, StudyId study, Group* group = nullptr, std::int64_t number = 0);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // The events from number `next` on, as soon as there are some. None when the time is over, when stopped, and when
    // events were missed: the event loop knows them all.
    std::optional<std::vector<StudyEvent>> Next(std::int64_t next, std::chrono::milliseconds at_most);

    // The same of a group's, without waiting: empty where there are none. None when events were missed.
    std::optional<std::vector<StudyEvent>> Poll(std::int64_t next);

   private:
    friend class StudyWatch;
    std::int64_t End() const { return first_ + static_cast<std::int64_t>(events_.size()); }
    std::vector<StudyEvent> TakeFrom(std::int64_t next);
    void Take(const EventsAdded& added);

    StudyWatch& watch_;
    std::multimap<StudyId, Listener*>::iterator place_;
    Group* const group_;
    const std::int64_t number_;
    // Kept by who announces, too: it notifies when the mutex is free for who waits.
    const std::shared_ptr<std::condition_variable> changed_;
    std::int64_t first_ = 1;          // number of the first of `events_`
    std::vector<StudyEvent> events_;  // without gaps
  };

  // That somebody carries the study's tuner on, for as long as this exists.
  class Tuning {
   public:
    Tuning(StudyWatch& watch, StudyId study);
    ~Tuning();
    Tuning(const Tuning&) = delete;
    Tuning& operator=(const Tuning&) = delete;

   private:
    StudyWatch& watch_;
    std::multiset<StudyId>::iterator place_;
  };

  // The studies whose tuners somebody carries on.
  std::set<StudyId> Tuned();

  // Events that are durable now.
  void Announce(const EventsAdded& added);

  // Wakes everybody, and nobody waits from now on.
  void Stop();
  bool stopped();

 private:
  std::mutex mutex_;  // of the listeners, too
  bool stopped_ = false;
  std::multimap<StudyId, Listener*> listeners_;
  std::multiset<StudyId> tuned_;  // once for each who does
};

}  // namespace espalier::master
