#include "tests/support/step_audit.h"

#include <algorithm>
#include <set>

#include "master/core/state/claims.h"
#include "master/core/views/steps_of_study.h"
#include "tests/support/standing_promises.h"

namespace espalier::master {
namespace {

// The nodes on the paths of these runs, with their plans.
std::map<PlanNodeId, const PlanNode*> NodesOnPaths(const MasterState& state, const std::vector<const Run*>& runs) {
  std::map<PlanNodeId, const PlanNode*> nodes;
  for (const Run* run : runs) {
    const SearchPlan& plan = state.plans.at(run->plan);
    for (const PathStage& stage : run->path) nodes[stage.node] = &plan.Node(stage.node);
  }
  return nodes;
}

// The steps up to the last claim of each trial, whatever became of it.
StepSet ClaimedSteps(const MasterState& state, StudyId study) {
  StepSet claimed;
  for (const TrialId id : state.trials_by_study.at(study)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    Step last;
    for (const ClaimId claim : trial.claims) last = std::max(last, plan.claims.at(claim).point.step);
    claimed.AddLineage(plan, trial.leaf, last);
  }
  return claimed;
}

// What the run trained of the range, and was claimed.
std::int64_t CountTrained(const SearchPlan& plan, RunId run, StepRange range, const StepSet& claimed) {
  for (const TrainedRange& trained : plan.Node(range.node).results->trained) {
    if (trained.run != run) continue;
    return claimed.CountIn({range.node, std::max(trained.from, range.from), std::min(trained.to, range.to)});
  }
  return 0;
}

std::int64_t CountTrained(const MasterState& state, const std::vector<const Run*>& runs, const StepSet& claimed) {
  std::int64_t count = 0;
  for (const Run* run : runs) {
    const SearchPlan& plan = state.plans.at(run->plan);
    for (const PathStage& stage : run->path) {
      count += CountTrained(plan, run->id, {stage.node, stage.from, stage.to}, claimed);
    }
  }
  return count;
}

// Of the claimed steps of these runs: trained by runs of smaller ids too.
std::int64_t CountReDerived(const MasterState& state, const std::vector<const Run*>& runs, const StepSet& claimed) {
  std::set<RunId> counted;
  for (const Run* run : runs) counted.insert(run->id);
  std::int64_t count = 0;
  for (const auto& [id, node] : NodesOnPaths(state, runs)) {
    std::vector<TrainedRange> trained = node->results->trained;
    std::sort(trained.begin(), trained.end(), [](const auto& a, const auto& b) { return a.run < b.run; });
    StepSet before;
    for (const TrainedRange& range : trained) {
      StepSet steps;
      steps.Add({id, range.from, range.to});
      if (counted.contains(range.run)) count += Intersection(Intersection(steps, claimed), before).Count();
      before.Add({id, range.from, range.to});
    }
  }
  return count;
}

std::optional<Step> DeepestCheckpoint(const PlanNode& node, const PathStage& stage, Time ordered_at) {
  for (auto point = node.results->checkpoints.upper_bound(stage.to); point != node.results->checkpoints.begin();) {
    --point;
    if (point->first <= stage.from) break;
    if (point->second.stored_at <= ordered_at) return point->first;
  }
  return std::nullopt;
}

// The deepest step of the stage, past its beginning, that was served when the run was ordered.
std::optional<Step> DeepestServed(const PlanNode& node, const PathStage& stage, const Run& run,
                                  const StandingPromises& promises) {
  std::optional<Step> deepest = DeepestCheckpoint(node, stage, run.ordered_at);
  for (const StandingPromise& promise : promises.On(stage.node)) {
    const bool lies_there = promise.step > stage.from && promise.step <= stage.to;
    if (lies_there && promise.run < run.id && promise.StoodAt(run.ordered_at)) {
      deepest = std::max(deepest, std::optional(promise.step));
    }
  }
  return deepest;
}

std::int64_t CountWasted(const SearchPlan& plan, const Run& run, const StandingPromises& promises,
                         const StepSet& claimed) {
  std::int64_t count = 0;
  bool served_further_on = false;
  for (auto stage = run.path.rbegin(); stage != run.path.rend(); ++stage) {
    Step to = stage->to;
    if (!served_further_on) {
      const auto served = DeepestServed(plan.Node(stage->node), *stage, run, promises);
      if (!served) continue;
      to = *served;
      served_further_on = true;
    }
    count += CountTrained(plan, run.id, {stage->node, stage->from, to}, claimed);
  }
  return count;
}

// Of the claimed steps of these runs: those up to the deepest point of their paths that a checkpoint, or another run's
// promise that stood, served already when they were ordered.
std::int64_t CountWasted(const MasterState& state, const std::vector<const Run*>& runs, const StepSet& claimed) {
  std::set<PlanId> plans;
  for (const Run* run : runs) plans.insert(run->plan);
  const StandingPromises promises(state, plans);
  std::int64_t count = 0;
  for (const Run* run : runs) count += CountWasted(state.plans.at(run->plan), *run, promises, claimed);
  return count;
}

std::vector<const Run*> RunsOf(const MasterState& state, StudyId study) {
  std::vector<const Run*> runs;
  for (const auto& [id, run] : state.runs) {
    if (Serves(run, study)) runs.push_back(&run);
  }
  return runs;
}

}  // namespace

StepTotals TotalsFromScratch(const MasterState& state, StudyId study_id) {
  const Study& study = state.studies.at(study_id);
  const StepSet unique = UniqueSteps(state, study_id);
  const std::vector<const Run*> runs = RunsOf(state, study_id);
  const StepSet claimed = ClaimedSteps(state, study_id);
  StepTotals totals{.unique = unique.Count(),
                    .trained = CountTrained(state, runs, claimed),
                    .re_derived = CountReDerived(state, runs, claimed),
                    .wasted = CountWasted(state, runs, claimed),
                    .reused = ReusedSteps(state, study, unique).Count()};
  StepSet wanted;
  StepSet trained;
  std::map<PlanNodeId, const PlanNode*> nodes;
  for (const TrialId id : state.trials_by_study.at(study_id)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    const Claim* last = LastWantedClaim(plan, trial);
    if (last == nullptr) continue;
    totals.wanted += last->point.step.value;
    for (const StepRange& range : LineageRanges(plan, trial.leaf, last->point.step)) {
      wanted.Add(range);
      nodes[range.node] = &plan.Node(range.node);
      trained.AddTakenOver(plan, plan.Node(range.node));
    }
  }
  for (const auto& [id, node] : nodes) trained.AddTrained(*node);
  totals.wanted_once = wanted.Count();
  totals.wanted_trained = Intersection(wanted, trained).Count();
  return totals;
}

}  // namespace espalier::master
