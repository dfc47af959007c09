// Going on from a trial, past its end or another way (docs/branches.md).
#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "client/space/trial_text.h"

namespace espalier {

// A hyper-parameter that cools down to the end of its branch.
struct BranchDecay {
  double share = 0;              // of the branch's whole length, between 0 and 1
  std::string shape = "sqrt";    // or "linear", "cosine", "square", "mirror_cosine"
  std::string parameter = "lr";  // of floating numbers
  double end = 0;                // the value that it falls to
};

// Another way from step `at` on.
struct TrialBranch {
  Step at;
  TrialText change{};  // hyper-parameters that change there, each on its own clock from there; others stay as they are
  std::optional<BranchDecay> decay{};
  Step steps{};  // how far it goes; 0: as far as the trial may go itself, or as the decay says
};

}  // namespace espalier
