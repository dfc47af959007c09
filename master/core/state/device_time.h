// What a study has cost.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

// Of devices, what was charged to the study, and its part of what runs that serve it have held since they were charged.
// O(runs under way).
Seconds DeviceTime(const MasterState& state, StudyId study, Time now);

}  // namespace espalier::master
