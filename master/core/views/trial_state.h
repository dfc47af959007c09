// What a trial is doing now.
#pragma once

#include <map>
#include <string>

#include "master/core/state/master_state.h"

namespace espalier::master {

// "waiting" (a claim waits, no run serves it), "running" (a run's path lies on its lineage before a waiting claim),
// "idle" (open, every claim settled), "done", "failed" (a claim failed), "cancelled".
std::string TrialState(const MasterState& state, const Trial& trial);

// Whether a run that trains serves the waiting claim. O(depth).
bool IsServedByTraining(const MasterState& state, ClaimId claim);

// How many of the study's trials are in each state, but for states that none is in. O(runs under way x their promises);
// O(waiting trials) in a study in which some trial waits for several claims at once.
std::map<std::string, std::int64_t> CountTrialStates(const MasterState& state, StudyId study);

}  // namespace espalier::master
