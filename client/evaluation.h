// What a claim comes to.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/claim_state.h"
#include "base/ids.h"
#include "base/units.h"

namespace espalier {

struct Evaluation {
  TrialId trial;
  ClaimId claim;
  Step step;
  ClaimState state = ClaimState::kDone;   // never kWaiting
  std::map<std::string, double> metrics;  // NaN for a diverged training
  std::string message;                    // why it failed
};

}  // namespace espalier
