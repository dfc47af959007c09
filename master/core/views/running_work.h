// What runs are doing for trials now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/core/state/master_state.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// The steps (from, to] of the run's path, by node.
std::vector<StepRange> PathRanges(const Run& run, Step from, Step to);

// After what time a step of the run is a hang although none of such a training was ever measured: the longest
// `hang_after` of the studies that it serves, so that nobody's patience costs another's training (law 7). None if one
// of them gives none, or it serves none.
std::optional<Seconds> HangAfterOf(const MasterState& state, const Run& run);

// Why nobody can tell whether the run hangs: it has been at a step for 30 minutes, no step of such a training was ever
// measured, and its studies do not say what is too long. Nothing if that is not so. REQUIRES: the run trains.
std::optional<std::string> LongStepOf(const MasterState& state, const Run& run, Time now);

}  // namespace espalier::master
