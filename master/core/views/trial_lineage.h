// A trial's way through its plan, as far as it was asked for.
#pragma once

#include <vector>

#include "master/core/state/master_state.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// The steps from Init to the deepest of its claims, by node, root first; what lies beyond is trained for others. Empty:
// it has no claim. O(depth).
std::vector<StepRange> LineageAskedFor(const MasterState& state, const Trial& trial);

// Whether one of its claims waits. O(claims of the trial).
bool IsWaiting(const MasterState& state, const Trial& trial);

}  // namespace espalier::master
