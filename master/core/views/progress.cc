#include "master/core/state/claims.h"
#include "master/core/views/lineage_work.h"
#include "master/core/views/running_work.h"
#include "master/core/views/summary.h"
#include "scheduler/lower_bound.h"

namespace espalier::master {
namespace {

// The least time that the claimed steps not in `trained` take on the slots there are; negative if it cannot be told.
Seconds EstimateLeft(const MasterState& state, const Study& study, const StepSet& trained) {
  std::vector<LineageEnd> ends;
  for (const TrialId id : state.trials_by_study.at(study.id)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    if (const Claim* last = LastWaitingClaim(plan, trial)) ends.push_back({&plan, trial.leaf, last->point.step});
  }
  if (ends.empty()) return Seconds{0};
  const int slots = SlotCount(state, study.device_kind);
  if (slots == 0 || !IsAnyMeasured(state, {study.training, study.device_kind, study.team})) return Seconds{-1};
  StepTimes times = StepTimesOf(state, study);
  return MakespanLowerBound(WorkOf(ends, trained, times), slots);
}

}  // namespace

StudyProgress ProgressOf(const MasterState& state, StudyId study_id) {
  StudyProgress progress;
  StepSet unique;
  std::map<PlanNodeId, const PlanNode*> nodes;
  for (const TrialId id : state.trials_by_study.at(study_id)) {
    const Trial& trial = state.trials.at(id);
    ++progress.trials_by_state[TrialState(state, trial)];
    const SearchPlan& plan = state.plans.at(trial.plan);
    const Claim* last = LastWantedClaim(plan, trial);
    if (last == nullptr) continue;
    progress.claimed_steps += last->point.step.value;
    for (const StepRange& range : LineageRanges(plan, trial.leaf, last->point.step)) {
      unique.Add(range);
      nodes[range.node] = &plan.Node(range.node);
    }
  }
  StepSet trained;
  for (const auto& [id, node] : nodes) trained.AddTrained(*node);
  progress.unique_steps = unique.Count();
  progress.trained_steps = Intersection(unique, trained).Count();
  progress.left = EstimateLeft(state, state.studies.at(study_id), trained);
  return progress;
}

}  // namespace espalier::master
