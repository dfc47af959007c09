// Random search: drawn candidates, each to its last step; all at once, or, where nobody said how many or `open_trials`
// says how many at once, one for each place that is free.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps, open_trials.
TunerKind RandomKind();

}  // namespace espalier::tuners
