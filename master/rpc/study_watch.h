// Wakes calls that stream a study's events. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "base/ids.h"

namespace espalier {

class StudyWatch {
 public:
  // How often the study has been notified of so far.
  std::int64_t Version(StudyId study);

  void Notify(StudyId study);

  // Returns when the study's version is not `seen` any more, when the time is over, or when stopped.
  void Wait(StudyId study, std::int64_t seen, std::chrono::milliseconds at_most);

  // Wakes everybody, and nobody waits from now on.
  void Stop();
  bool stopped();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::map<StudyId, std::int64_t> versions_;
};

}  // namespace espalier
