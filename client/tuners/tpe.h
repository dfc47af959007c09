// TPE alone: every trial to its last step, one for each place that is free, drawn by what was measured before it
// (client/tuners/tpe_sampler.h).
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps, for candidates that have no horizon of their own; open_trials.
TunerKind TpeKind();

}  // namespace espalier::tuners
