// What a study has cost. What is charged to all studies together is what runs have held.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

// Charges the run's studies, in microseconds. O(studies that it has served x log studies).
void AddCharges(MasterState& state, Run& run, const std::map<StudyId, std::int64_t>& microseconds);

// Of devices, what was charged to the study, and its part of what runs that serve it have held since they were charged.
// O(runs under way).
Seconds DeviceTime(const MasterState& state, StudyId study, Time now);

// What the run holds since it was charged, each of those that it serves its part. REQUIRES: it trains.
Seconds UnchargedPart(const Run& run, Time now);

// Of what was charged to the study: by runs of which others were charged a part, too. O(log studies).
Seconds SharedTime(const MasterState& state, StudyId study);

}  // namespace espalier::master
