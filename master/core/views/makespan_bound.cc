#include "master/core/views/makespan_bound.h"

#include <algorithm>

#include "master/core/state/claims.h"
#include "master/core/views/lineage_work.h"
#include "scheduler/lower_bound.h"

namespace espalier::master {
namespace {

// Now, or before.
bool Serves(const Run& run, StudyId study) {
  return run.charges.contains(study) || std::binary_search(run.serves.begin(), run.serves.end(), study);
}

// The steps that the study's done claims stand for, shared ones once.
StepSet UniqueSteps(const MasterState& state, StudyId study) {
  StepSet unique;
  for (const TrialId id : state.trials_by_study.at(study)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    if (const Claim* last = LastDoneClaim(plan, trial)) unique.AddLineage(plan, trial.leaf, last->point.step);
  }
  return unique;
}

// Of `unique`: trained by runs ordered before this study was created, and not by its own.
StepSet ReusedSteps(const MasterState& state, const Study& study, const StepSet& unique) {
  std::map<PlanNodeId, const PlanNode*> nodes;
  for (const TrialId id : state.trials_by_study.at(study.id)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    for (std::optional<PlanNodeId> node = trial.leaf; node; node = plan.Node(*node).parent) {
      nodes[*node] = &plan.Node(*node);
    }
  }
  StepSet earlier;
  StepSet own;
  for (const auto& [id, node] : nodes) {
    for (const TrainedRange& range : node->results->trained) {
      const Run& run = state.runs.at(range.run);
      if (Serves(run, study.id)) {
        own.Add({id, range.from, range.to});
      } else if (run.ordered_at < study.created_at) {
        earlier.Add({id, range.from, range.to});
      }
    }
  }
  return Difference(Intersection(unique, earlier), own);
}

}  // namespace

Seconds MakespanBound(const MasterState& state, const Study& study) {
  StepTimes times = StepTimesOf(state, study);
  StepSet done = ReusedSteps(state, study, UniqueSteps(state, study.id));
  const int slots = std::max(1, SlotCount(state, study.device_kind));
  Seconds bound{0};
  bool is_over = false;
  for (std::size_t rung = 0; !is_over; ++rung) {
    is_over = true;
    std::vector<LineageEnd> ends;
    for (const TrialId id : state.trials_by_study.at(study.id)) {
      const Trial& trial = state.trials.at(id);
      if (rung >= trial.claims.size()) continue;
      is_over = false;
      const SearchPlan& plan = state.plans.at(trial.plan);
      const Claim& claim = plan.claims.at(trial.claims[rung]);
      if (claim.state == ClaimState::kDone) ends.push_back({&plan, trial.leaf, TrainableStep(plan, claim)});
    }
    bound += MakespanLowerBound(WorkOf(ends, done, times), slots);
    for (const LineageEnd& end : ends) done.AddLineage(*end.plan, end.leaf, end.step);
  }
  return bound;
}

}  // namespace espalier::master
