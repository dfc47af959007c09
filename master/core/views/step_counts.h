// The audit of a study's steps: claimed, trained, and whether the training was necessary. Independent of the scheduler:
// it looks only at what was known when each run was ordered.
#pragma once

#include <vector>

#include "master/core/views/summary.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// Those that serve the study, or did, by id.
std::vector<const Run*> RunsOf(const MasterState& state, StudyId study);

// The steps that the study's done claims stand for, shared ones once.
StepSet UniqueSteps(const MasterState& state, StudyId study);

// Of `unique`: trained by runs ordered before this study was created, and not by its own.
StepSet ReusedSteps(const MasterState& state, const Study& study, const StepSet& unique);

// What runs trained of the steps that the study's trials have claimed, in whatever state the claims are. A run that
// serves several studies counts for each, on that study's lineages.
StepCounts CountSteps(const MasterState& state, const Study& study, const StepSet& unique, const StepSet& reused);

}  // namespace espalier::master
