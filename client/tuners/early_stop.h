// Early stop by milestones (TreeML, figure 5.3): at each milestone a given number of trials goes on, decided as one
// rung of successive halving.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: milestones, a mapping of steps to how many trials are trained up to there; of at least as many trials as
// there are the first, none of more than the one before it.
TunerKind EarlyStopKind();

}  // namespace espalier::tuners
