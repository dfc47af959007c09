#include "base/claim_state.h"

#include "base/enum_names.h"

namespace espalier {
namespace {

constexpr EnumName<ClaimState> kClaimStates[] = {{ClaimState::kWaiting, "waiting"},
                                                 {ClaimState::kDone, "done"},
                                                 {ClaimState::kFailed, "failed"},
                                                 {ClaimState::kCancelled, "cancelled"}};

}  // namespace

std::string_view Name(ClaimState state) { return NameIn(kClaimStates, state); }

Result<ClaimState> ParseClaimState(std::string_view name) { return ParseIn(kClaimStates, name); }

}  // namespace espalier
