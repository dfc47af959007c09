// A run's step log, read while the worker appends to it: when its steps began and ended, to half a millisecond. (What a
// node manager reports of positions comes in batches.) One thread's.
#pragma once

#include <deque>
#include <string>

#include "base/units.h"

namespace espalier::bench {

struct TrainedStep {
  Step step;
  Seconds ended{0};  // monotonic
  Seconds took{0};
  Seconds began() const { return ended - took; }
};

class StepLogFollower {
 public:
  // Waits until the file is there; it may be removed from then on.
  explicit StepLogFollower(const std::string& path);
  ~StepLogFollower();
  StepLogFollower(const StepLogFollower&) = delete;
  StepLogFollower& operator=(const StepLogFollower&) = delete;

  // The next step that has ended, waited for.
  TrainedStep Next();
  // The last step of a run that has ended. REQUIRES: it has trained one.
  TrainedStep Last();

 private:
  void Read();

  int fd_ = -1;
  std::string text_;  // of a line that is not whole yet
  std::deque<TrainedStep> unread_;
  TrainedStep last_;
};

}  // namespace espalier::bench
