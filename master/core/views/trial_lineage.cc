#include "master/core/views/trial_lineage.h"

#include <algorithm>

namespace espalier::master {

std::vector<StepRange> LineageAskedFor(const MasterState& state, const Trial& trial) {
  const SearchPlan& plan = state.plans.at(trial.plan);
  if (trial.claims.empty()) return {};
  return LineageRanges(plan, trial.leaf, plan.claims.at(trial.claims.back()).point.step);
}

bool IsWaiting(const MasterState& state, const Trial& trial) {
  const SearchPlan& plan = state.plans.at(trial.plan);
  return std::ranges::any_of(trial.claims,
                             [&](ClaimId claim) { return plan.claims.at(claim).state == ClaimState::kWaiting; });
}

}  // namespace espalier::master
