// The sequences of a trial that goes on from another, or leaves it at a step.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "master/core/event.h"
#include "master/core/state/study.h"

namespace espalier::master {

// What the new trial's text is.
struct Branch {
  std::map<std::string, std::string> sequences;
  Step steps;
};

// Of the trial, which is one of the study's. Errors: kInvalidArgument, with the field of the Continuation or the
// hyper-parameter's name. What a hyper-parameter changes to is checked with the whole trial, later. O(text + segments
// of a hyper-parameter that cools down, up to the step).
Result<Branch> BranchOf(const Study& study, const Trial& trial, const Continuation& continuation);

}  // namespace espalier::master
