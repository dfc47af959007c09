// Who would have slots where none is idle, as policies that preempt are shown it.
#pragma once

#include <vector>

#include "master/core/state/master_state.h"
#include "scheduler/view.h"

namespace espalier::master {

// To store the run's state, and to begin with another's: what of that was measured for such trainings. REQUIRES: it
// trains.
Seconds MeasuredSwitchingTime(const MasterState& state, const Run& run);

// As View::Contests says.
std::vector<Contest> ContestsOf(const MasterState& state, Time now);

}  // namespace espalier::master
