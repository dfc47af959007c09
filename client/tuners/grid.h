// Grid and random search: every candidate to its last step, all at once. They differ in where candidates come from.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps, for candidates that have no horizon of their own.
TunerKind GridKind();
TunerKind RandomKind();

}  // namespace espalier::tuners
