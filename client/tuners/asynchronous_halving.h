// ASHA by promotion (Li et al. 2020, algorithm 2): whenever fewer than `open_trials` trials have an unsettled claim,
// the best trial among the top floor(n / reduction) of the highest rung that has one not yet promoted goes on to the
// next rung; else the next trial starts. n counts failed and cancelled trials, which rank last; none of them goes on.
// Equal values rank by order of entry into the rung.
//
// With `merge_aware` costs come in: the steps that a claim adds to what the study asked for so far
// (`marginal_steps.h`). Of the trials that may be promoted on the highest rung the cheapest goes on, of equals the
// better one; of those that were not started the cheapest is next, of equals the earlier candidate; and it comes first
// if it costs less than the promotion.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: min and max (the first and the last rung), reduction, open_trials, stopping (true: `stopping_halving.h`),
// merge_aware. A candidate's own horizon ends it early: it enters later rungs with what it reached there.
TunerKind AsynchronousHalvingKind();

}  // namespace espalier::tuners
