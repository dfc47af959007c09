// What a claim comes to.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.h"
#include "base/units.h"

namespace espalier {

enum class ClaimState { kDone, kFailed, kCancelled };

struct Evaluation {
  TrialId trial;
  ClaimId claim;
  Step step;
  ClaimState state = ClaimState::kDone;
  std::map<std::string, double> metrics;  // NaN for a diverged training
  std::string message;                    // why it failed
};

}  // namespace espalier
