#include "master/core/views/makespan_bound.h"

#include <algorithm>

#include "master/core/state/claims.h"
#include "master/core/views/lineage_work.h"
#include "master/core/views/steps_of_study.h"
#include "scheduler/lower_bound.h"

namespace espalier::master {
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
