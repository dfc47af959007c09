#include "master/core/views/steps_of_study.h"

#include <algorithm>

#include "master/core/state/claims.h"

namespace espalier::master {

bool Serves(const Run& run, StudyId study) {
  return run.charges.contains(study) || std::binary_search(run.serves.begin(), run.serves.end(), study);
}

StepSet UniqueSteps(const MasterState& state, StudyId study) {
  StepSet unique;
  for (const TrialId id : state.trials_by_study.at(study)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    if (const Claim* last = LastDoneClaim(plan, trial)) unique.AddLineage(plan, trial.leaf, last->point.step);
  }
  return unique;
}

StepSet ReusedSteps(const MasterState& state, const Study& study, const StepSet& unique) {
  std::map<PlanNodeId, const PlanNode*> nodes;
  StepSet earlier;
  for (const TrialId id : state.trials_by_study.at(study.id)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    for (std::optional<PlanNodeId> node = trial.leaf; node; node = plan.Node(*node).parent) {
      if (nodes.emplace(*node, &plan.Node(*node)).second) earlier.AddTakenOver(plan, plan.Node(*node));
    }
  }
  StepSet own;
  for (const auto& [id, node] : nodes) {
    for (const TrainedRange& range : node->results->trained) {
      const auto run = state.runs.find(range.run);  // none: it served retired studies alone
      if (run != state.runs.end() && Serves(run->second, study.id)) {
        own.Add({id, range.from, range.to});
      } else if (range.run < study.first_run) {
        earlier.Add({id, range.from, range.to});
      }
    }
  }
  return Difference(Intersection(unique, earlier), own);
}

}  // namespace espalier::master
