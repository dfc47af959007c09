// What the runs that are not ended are about to do.
#pragma once

#include <set>

#include "master/core/state/master_state.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

struct RunningWork {
  StepSet ahead;            // steps that training runs have before them, up to their last target
  std::set<Point> targets;  // points whose metrics or state are promised
};

RunningWork RunningWorkOf(const MasterState& state);

// Steps (from, to] of the run's path, by node.
std::vector<StepRange> PathRanges(const Run& run, Step from, Step to);

// The last step that the run still promises; where it stands if there is none.
Step LastTarget(const Run& run);

// As TrialState (master/core/views/summary.h), for many trials of one state.
std::string TrialState(const MasterState& state, const RunningWork& running, const Trial& trial);

}  // namespace espalier::master
