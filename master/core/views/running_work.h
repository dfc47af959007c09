// What runs are doing for trials now.
#pragma once

#include <vector>

#include "master/core/state/master_state.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// The steps (from, to] of the run's path, by node.
std::vector<StepRange> PathRanges(const Run& run, Step from, Step to);

// The furthest step at which the run owes something; where it stands if it owes nothing.
Step EndOf(const Run& run);

}  // namespace espalier::master
