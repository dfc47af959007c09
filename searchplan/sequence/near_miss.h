// Near misses: sequences that a user surely means to be one, but that part because of rounding, such as
// MultiStep(0.1, [40], 0.1), which is 0.010000000000000002 from step 40 on, and Piecewise([0.1, 0.01], [40]). They do
// not merge; hints point them out.
#pragma once

#include <optional>

#include "searchplan/sequence/sequence.h"

namespace espalier {

// Up to this part of the larger value, a difference counts as rounding.
inline constexpr double kRoundingDifferenceMax = 1e-12;

struct NearMiss {
  Step from;              // the first step at which the values differ
  double difference = 0;  // there; > 0
  Step to;                // the first step on which they differ by more than rounding, or the shorter one's horizon
  friend bool operator==(const NearMiss&, const NearMiss&) = default;
};

// Whether the first difference between two sequences is one of rounding only, and stays so at least to the end of the
// functions in force there. Of long functions only some steps are looked at, close to each other at the beginning.
// None for sequences that are equal, that really differ, or that are not floating.
std::optional<NearMiss> FindNearMiss(const Sequence& a, const Sequence& b);

// "these two differ by 1.7e-18 from step 40 on"; with "up to step 80" where they really part later.
std::string Describe(const NearMiss& near_miss, Step horizon);

}  // namespace espalier
