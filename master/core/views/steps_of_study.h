// Which steps a study's done claims stand for, from the whole plan: for views that need the steps themselves. How many
// they are is counted by edits (master/core/state/step_ledger.h).
#pragma once

#include "master/core/state/master_state.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// Whether the run serves the study, or did.
bool Serves(const Run& run, StudyId study);

// Those that trials share once. O(trials x depth).
StepSet UniqueSteps(const MasterState& state, StudyId study);

// Of `unique`: trained by runs ordered before this study was created, and not by its own. O(nodes of its trials x runs
// that trained there).
StepSet ReusedSteps(const MasterState& state, const Study& study, const StepSet& unique);

}  // namespace espalier::master
