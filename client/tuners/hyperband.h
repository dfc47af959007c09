// Hyperband (L. Li et al., Hyperband: A Novel Bandit-Based Approach to Hyperparameter Optimization, JMLR 18, 2017,
// algorithm 1): brackets of successive halving that trade many trials for long ones, all at once.
#pragma once

#include <cstdint>
#include <vector>

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

// A bracket: so many trials, compared at these steps.
struct BracketShape {
  std::size_t trial_count = 0;
  std::vector<Step> rungs;
};

// With s_max the largest s for which reduction^s <= most, in integers: for s = s_max, ..., 0 a bracket of
// ceil((s_max + 1) x reduction^s / (s + 1)) trials, rungs at most x reduction^-s, ..., most, rounded down, at least 1.
// REQUIRES: 1 <= most <= kStepMax, reduction >= 2.
std::vector<BracketShape> HyperbandBrackets(Step most, std::int64_t reduction);

// Options: max (steps), reduction. The candidates fill the brackets in their order; when the last bracket is full, the
// next begins with the first shape again, until every candidate is in one: so the last may be smaller than its shape.
// Of equal values the earlier submitted goes on; failed and cancelled trials count in a rung and do not; NaN ranks
// below every number.
TunerKind HyperbandKind();

}  // namespace espalier::tuners
