// Rungs: the steps at which trials are compared, and the order of results at one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "client/tuners/tuner.h"

namespace espalier::tuners {

// least, least * reduction, ... below most, then most itself; in integers.
// REQUIRES: 1 <= least <= most <= kStepMax, reduction >= 2.
std::vector<Step> Rungs(Step least, Step most, std::int64_t reduction);

// True if `a` is strictly better: lower values first, then NaN, then failed and cancelled trials, which are all equal.
bool Better(const Outcome& a, const Outcome& b);

}  // namespace espalier::tuners
