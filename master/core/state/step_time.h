// How long a step is thought to take.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

// Under the node: measured, else estimated; microseconds, >= 1. O(1) where it was measured, else as CostSums::Time.
std::int64_t StepMicroseconds(const MasterState& state, const SearchPlan& plan, const PlanNode& node);

}  // namespace espalier::master
