// The first thing that a check found wrong, and what usually causes it. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "worker/check/course.h"
#include "worker/check/difference.h"
#include "worker/check/pass.h"

namespace espalier::trainer_check {

enum class Observed {
  kTraining,    // a step's metrics
  kEvaluation,  // an evaluation's metrics
  kState,       // a state that was saved
  kFailure,     // the trainer failed, or its process died
};

struct Finding {
  Observed observed = Observed::kTraining;
  Step step;
  std::vector<Difference> differences;  // the first one first; none of a failure
  std::string message;                  // of a failure
  bool is_fault_of_trainer = true;      // else its worker died, or had no memory: another time it may not
  Action after;                         // the deed that is to blame
  std::string pass;
  bool is_repeatable = true;  // straight training in another process is the same again
};

// "another state at step 2", "other metrics of the training to step 2".
std::string Print(Observed observed, Step step);

// In one or two sentences, with what to do; empty of a failure, whose message says it.
std::string UsualCause(const Finding& finding, const Course& course);

}  // namespace espalier::trainer_check
