// Brings a study's new events to the calls that stream them, past the event loop. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
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
  // A call that streams a study's events. Is given those that are announced while it exists. One thread.
  class Listener {
   public:
    Listener(StudyWatch& watch, StudyId study);
    ~Listener();

    // The events from number `next` on, as soon as there are some. None when the time is over, when stopped, and when
    // events were missed: the event loop knows them all.
    std::optional<std::vector<StudyEvent>> Next(std::int64_t next, std::chrono::milliseconds at_most);

   private:
    friend class StudyWatch;
    void Take(const EventsAdded& added);

    StudyWatch& watch_;
    std::multimap<StudyId, Listener*>::iterator place_;
    // Kept by who announces, too: it notifies when the mutex is free for who waits.
    const std::shared_ptr<std::condition_variable> changed_ = std::make_shared<std::condition_variable>();
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
