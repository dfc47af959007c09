// Lookups on a trial's claims.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

// Null if none is done.
inline const Claim* LastDoneClaim(const SearchPlan& plan, const Trial& trial) {
  for (auto id = trial.claims.rbegin(); id != trial.claims.rend(); ++id) {
    const Claim& claim = plan.claims.at(*id);
    if (claim.state == ClaimState::kDone) return &claim;
  }
  return nullptr;
}

// The last that is done or waits: what the trial asks for. Null if there is none.
inline const Claim* LastWantedClaim(const SearchPlan& plan, const Trial& trial) {
  for (auto id = trial.claims.rbegin(); id != trial.claims.rend(); ++id) {
    const Claim& claim = plan.claims.at(*id);
    if (claim.state == ClaimState::kDone || claim.state == ClaimState::kWaiting) return &claim;
  }
  return nullptr;
}

// Those of the trial to states alone that wait.
inline const std::set<ClaimId>& StateClaimsOf(const MasterState& state, TrialId trial) {
  static const std::set<ClaimId> kNone;
  const auto claimed = state.index.states_claimed.find(trial);
  return claimed == state.index.states_claimed.end() ? kNone : claimed->second;
}

// The last that waits. Null if none does.
inline const Claim* LastWaitingClaim(const SearchPlan& plan, const Trial& trial) {
  for (auto id = trial.claims.rbegin(); id != trial.claims.rend(); ++id) {
    if (plan.waiting.contains(*id)) return &plan.claims.at(*id);
  }
  return nullptr;
}

}  // namespace espalier::master
