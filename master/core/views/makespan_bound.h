// How soon a finished study could have ended at best.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

// A rung is what was asked for while something waited: a tuner that waits for all that it asked for has several, one
// that asks for more at any time has one. Of each, the claims that are done. The sum of the rungs' lower bounds on the
// slots there are now (scheduler/lower_bound.h), in the times that steps took; what earlier rungs trained, or other
// studies before this one, takes no time, and nor does anything but steps: a schedule may do it meanwhile or without
// it, and this is a bound. O(events + trials x depth): for the study's part of the state (study_part.h), beside the
// event loop.
Seconds MakespanBound(const MasterState& state, const Study& study);

}  // namespace espalier::master
