// The audit of a study's steps: claimed, trained, and whether the training was necessary. Independent of the scheduler:
// it looks only at what was known when each run was ordered.
#pragma once

#include <vector>

#include "master/core/views/summary.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// Those ordered for the study, by id.
std::vector<const Run*> RunsOf(const MasterState& state, StudyId study);

// The steps that the study's done claims stand for, shared ones once.
StepSet UniqueSteps(const MasterState& state, StudyId study);

// Of `unique`: trained by runs ordered before this study was created, and not by its own.
StepSet ReusedSteps(const MasterState& state, const Study& study, const StepSet& unique);

// Steps of these runs that runs of smaller ids trained too.
std::int64_t CountReDerived(const MasterState& state, const std::vector<const Run*>& runs);

// Steps of these runs up to the deepest point of their paths that a checkpoint, or another run's promise that was kept
// or is still open, served already when they were ordered.
std::int64_t CountWasted(const MasterState& state, const std::vector<const Run*>& runs);

StepCounts CountSteps(const MasterState& state, const Study& study, const StepSet& unique, const StepSet& reused);

}  // namespace espalier::master
