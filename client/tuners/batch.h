// What is asked of a study at once.
#pragma once

#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "client/tuners/tuner.h"

namespace espalier {

struct FurtherClaim {
  TrialId trial;
  Step steps;
  friend bool operator==(const FurtherClaim&, const FurtherClaim&) = default;
};

// All of it or nothing happens, unless it is larger than a master takes at once (joint segments and other entries
// together: 5,000). Then it is submitted in several requests, one after the other: what precedes a refused one has
// happened.
struct Batch {
  std::vector<tuners::StartTrial> new_trials;
  std::vector<FurtherClaim> claims;
  std::vector<TrialId> close;
  std::vector<TrialId> cancel;
  bool finish = false;  // closes every trial; the study is finished once its claims are settled
  friend bool operator==(const Batch&, const Batch&) = default;
};

}  // namespace espalier
