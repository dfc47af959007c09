// Law 8: what each run must promise follows from what the plan needs, after every change, by the index of needs.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Acts on what has changed in the plan's needs until nothing is new: a stage that is needed now is promised by a run
// that passes it; a promise that nobody needs any more is withdrawn, unless the runner has reached its state; a runner
// that has passed all that it is needed for stops at once. O(what changed x (depth + runs on a node)).
void MeetNeeds(Draft& draft, PlanId plan);

// The promises with which a run along `path` from its start begins: the state at its end and wherever else it is
// wanted; the metrics where claims of the run's evaluation wait; the state where open trials may want it
// (SavesOnTheWay).
std::vector<PromisedAt> PromisesAlong(const MasterState& state, const Run& run, const ReactorSettings& settings);

// Whom the run serves now. O(open promises x studies below them).
std::vector<StudyId> StudiesServed(const MasterState& state, const Run& run);

}  // namespace espalier::master
