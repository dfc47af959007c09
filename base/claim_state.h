// Where a claim stands, as clients, the master and the database name it.
#pragma once

#include <string_view>

#include "base/result.h"

namespace espalier {

enum class ClaimState {
  kWaiting,
  kDone,       // its metrics are known; those of a training that diverged are not numbers
  kFailed,     // for good
  kCancelled,  // with its trial
};

// "waiting", "done", "failed", "cancelled".
std::string_view Name(ClaimState state);

// Error: kInvalidArgument, with what is expected.
Result<ClaimState> ParseClaimState(std::string_view name);

}  // namespace espalier
