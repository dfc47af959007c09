// What came of checking whether a trainer in a user's own code can be cut (docs/trainer_check.md). Values.
#pragma once

#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"

namespace espalier {

enum class CheckOutcome {
  kPassed,   // however its training is cut, it is the same
  kFailed,   // it is not
  kGivenUp,  // nothing is known: it took too long, its training failed, or the check died again and again
};
std::string_view Name(CheckOutcome outcome);
Result<CheckOutcome> ParseCheckOutcome(std::string_view name);

struct CheckFinding {
  CheckOutcome outcome = CheckOutcome::kPassed;
  std::string message = {};  // of a failure, what differs and the usual cause; given up: why. Several lines
  friend bool operator==(const CheckFinding&, const CheckFinding&) = default;
};

struct CheckedTrainer {
  Digest128 trainer;  // TrainerDigest of its offer
  CheckFinding finding;
  friend bool operator==(const CheckedTrainer&, const CheckedTrainer&) = default;
};

}  // namespace espalier
