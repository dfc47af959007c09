// ASHA by promotion (Li et al. 2020, algorithm 2): whenever fewer than `open_trials` trials have an unsettled claim,
// the best trial among the top floor(n / reduction) of the highest rung that has one not yet promoted goes on to the
// next rung; else the next trial starts. n counts failed and cancelled trials, which rank last; none of them goes on.
// Equal values rank by order of entry into the rung.
//
// With `merge_aware`, what is alike but for its costs goes by them: of the trials that may be promoted on the highest
// rung, and of those that were not started, the one that adds the fewest steps to what the study asked for so far
// (`marginal_steps.h`); of equals the better one, and the earlier candidate.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: min and max (the first and the last rung), reduction, open_trials, stopping (true: `stopping_halving.h`),
// merge_aware. A candidate's own horizon ends it early: it enters later rungs with what it reached there.
TunerKind AsynchronousHalvingKind();

}  // namespace espalier::tuners
