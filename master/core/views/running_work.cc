#include "master/core/views/running_work.h"

#include <algorithm>
#include <set>

#include "master/core/state/claims.h"
#include "master/core/views/summary.h"

namespace espalier::master {
std::vector<StepRange> PathRanges(const Run& run, Step from, Step to) {
  std::vector<StepRange> ranges;
  for (const PathStage& stage : run.path) {
    const StepRange range{stage.node, std::max(stage.from, from), std::min(stage.to, to)};
    if (range.from < range.to) ranges.push_back(range);
  }
  return ranges;
}

Step EndOf(const Run& run) {
  Step end = run.at();
  for (const auto& [id, promise] : run.promises) {
    if (promise.state == PromiseState::kOpen) end = std::max(end, promise.step);
  }
  return end;
}

bool IsServedByTraining(const MasterState& state, ClaimId id) {
  const SearchPlan& plan = state.plans.at(state.plan_by_claim.at(id));
  const auto needs = state.index.needs.find(plan.id);
  if (needs == state.index.needs.end()) return false;
  const Claim& claim = plan.claims.at(id);
  const auto trains = [&](RunId run) { return state.runs.at(run).training(); };
  if (const Place* place = needs->second.Find(claim.point)) {
    const auto waiting = place->waiting.find(claim.evaluation);
    if (waiting != place->waiting.end() && !waiting->second.covered_by.empty()) {
      return std::any_of(waiting->second.covered_by.begin(), waiting->second.covered_by.end(), trains);
    }
  }
  const std::optional<Point> served_from = needs->second.StateFor(plan, claim.point);
  if (!served_from) return false;
  const Place& place = *needs->second.Find(*served_from);
  return !place.stored && std::any_of(place.promised.begin(), place.promised.end(), trains);
}

std::string TrialState(const MasterState& state, const Trial& trial) {
  if (trial.cancelled) return "cancelled";
  const SearchPlan& plan = state.plans.at(trial.plan);
  bool waits = false;
  std::set<Step> failed;  // and not claimed again
  for (const ClaimId id : trial.claims) {
    const Claim& claim = plan.claims.at(id);
    if (claim.state == ClaimState::kCancelled) return "cancelled";
    claim.state == ClaimState::kFailed ? (void)failed.insert(claim.point.step) : (void)failed.erase(claim.point.step);
    if (claim.state != ClaimState::kWaiting) continue;
    waits = true;
    if (IsServedByTraining(state, id)) return "running";
  }
  if (waits) return "waiting";
  if (!failed.empty()) return "failed";
  return trial.closed ? "done" : "idle";
}

}  // namespace espalier::master
