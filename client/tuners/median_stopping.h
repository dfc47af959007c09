// Median stopping (D. Golovin et al., Google Vizier: A Service for Black-Box Optimization, KDD 2017, section 3.2.2): a
// trial stops where the best that it has reached is worse than the median of what others had reached there on average.
#pragma once

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// Options: steps (of a trial without a horizon of its own), every (the steps between two looks), grace (no trial stops
// before that step; left out: `every`), min_trials (others that must have been there; left out: 5), open_trials. Looks
// are at every, 2 x every, ... and at the trial's end, at most 1,001 of them. Of the others count those that were
// measured there before it, whatever became of them later (Golovin's compares with completed trials only), each by the
// mean of its values at the looks up to there; the median of an even number is the mean of the two in the middle. It
// stops if its best value is strictly worse. NaN ranks behind every number.
TunerKind MedianStoppingKind();

}  // namespace espalier::tuners
