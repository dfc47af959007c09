// Grid search: every candidate to its last step, all at once.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps, for candidates that have no horizon of their own.
Result<std::unique_ptr<Tuner>> MakeGrid(const Options& options, Trials given);

TunerKind GridKind();

}  // namespace espalier::tuners
