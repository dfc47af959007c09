// Every trial to its last step, one for each place that is free.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps, for candidates that have no horizon of their own; open_trials.
Result<std::unique_ptr<Tuner>> MakeOneByOne(const Options& options, Trials given);

}  // namespace espalier::tuners
