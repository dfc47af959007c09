// The worker's own account of the steps it trained, from which wasted and re-derived steps are counted: a file that
// each worker process appends a line to, in one write, unbuffered, so that a killed process loses none.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"

namespace espalier::worker {

class StepLog {
 public:
  StepLog() = default;
  ~StepLog();
  StepLog(StepLog&& other) noexcept;
  StepLog& operator=(StepLog&& other) noexcept;

  // From here on it is of this run, in this file, which is made if there is none; an empty path: none is wanted.
  // Error: kInvalidArgument.
  Result<void> Begin(const std::string& path, RunId run);

  // Appends "RUN STEP SECONDS\n": the step reached and how long it took. Error: kInternal; training is worth more than
  // its account, and goes on.
  Result<void> Append(Step step, Seconds time);

 private:
  void Close();

  RunId run_;
  int fd_ = -1;  // negative: none is wanted
};

}  // namespace espalier::worker
