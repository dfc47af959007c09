// The worker's own account of the steps it trained, from which wasted and re-derived steps are counted: a file that
// each worker process appends a line to, in one write, unbuffered, so that a killed process loses none.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace espalier::trainer {

class StepLog {
 public:
  StepLog(std::string path, std::int64_t run_id);
  ~StepLog();
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  // Creates the file if there is none. Error: kInternal.
  Result<void> Open();

  // Appends "RUN STEP SECONDS\n": the step reached and how long it took. Error: kInternal. REQUIRES: opened.
  Result<void> Append(std::int64_t step, double seconds);

 private:
  const std::string path_;
  const std::int64_t run_id_;
  int fd_ = -1;
};

}  // namespace espalier::trainer
