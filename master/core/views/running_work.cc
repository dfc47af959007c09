#include "master/core/views/running_work.h"

#include <algorithm>

#include "master/core/state/claims.h"
#include "master/core/views/summary.h"

namespace espalier::master {
namespace {

bool IsServed(const RunningWork& running, const SearchPlan& plan, const Trial& trial, const Claim& claim) {
  if (running.targets.contains(claim.point)) return true;
  const std::vector<StepRange> ranges = LineageRanges(plan, trial.leaf, claim.point.step);
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const StepRange& range) { return running.ahead.CountIn(range) > 0; });
}

}  // namespace

std::vector<StepRange> PathRanges(const Run& run, Step from, Step to) {
  std::vector<StepRange> ranges;
  for (const PathStage& stage : run.path) {
    const StepRange range{stage.node, std::max(stage.from, from), std::min(stage.to, to)};
    if (range.from < range.to) ranges.push_back(range);
  }
  return ranges;
}

Step LastTarget(const Run& run) {
  const std::vector<Target> targets = OpenTargets(run);
  return targets.empty() ? run.at : targets.back().step;
}

RunningWork RunningWorkOf(const MasterState& state) {
  RunningWork running;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    const RunView view = ViewOf(run);
    for (const Target& target : view.targets) running.targets.insert(PointOnPath(view, target.step));
    if (run.state != RunState::kTraining) continue;
    for (const StepRange& range : PathRanges(run, run.at, LastTarget(run))) running.ahead.Add(range);
  }
  return running;
}

std::string TrialState(const MasterState& state, const RunningWork& running, const Trial& trial) {
  if (trial.cancelled) return "cancelled";
  const SearchPlan& plan = state.plans.at(trial.plan);
  bool waits = false;
  bool failed = false;
  for (const ClaimId id : trial.claims) {
    const Claim& claim = plan.claims.at(id);
    if (claim.state == ClaimState::kCancelled) return "cancelled";
    failed = failed || claim.state == ClaimState::kFailed;
    if (claim.state != ClaimState::kWaiting) continue;
    waits = true;
    if (IsServed(running, plan, trial, claim)) return "running";
  }
  if (waits) return "waiting";
  if (failed) return "failed";
  return trial.closed ? "done" : "idle";
}

std::string TrialState(const MasterState& state, const Trial& trial) {
  return TrialState(state, RunningWorkOf(state), trial);
}

}  // namespace espalier::master
