#include "master/core/views/makespan_bound.h"

#include <algorithm>

#include "master/core/views/lineage_work.h"
#include "master/core/views/steps_of_study.h"
#include "scheduler/lower_bound.h"

namespace espalier::master {
namespace {

// The study's claims in the order in which they were made, a new rung wherever none waited.
std::vector<std::vector<ClaimMade>> RungsOf(const MasterState& state, StudyId study) {
  std::vector<std::vector<ClaimMade>> rungs;
  std::int64_t waiting = 0;
  for (const StudyEvent& event : state.events.at(study)) {
    if (const auto* made = std::get_if<ClaimMade>(&event)) {
      if (waiting++ == 0) rungs.emplace_back();
      rungs.back().push_back(*made);
    }
    if (std::holds_alternative<ClaimSettled>(event)) --waiting;
  }
  return rungs;
}

}  // namespace

Seconds MakespanBound(const MasterState& state, const Study& study) {
  StepSet done = ReusedSteps(state, study, UniqueSteps(state, study.id));
  const int slots = std::max(1, SlotCount(state, study));
  Seconds bound{0};
  for (const std::vector<ClaimMade>& rung : RungsOf(state, study.id)) {
    std::vector<LineageEnd> ends;
    for (const ClaimMade& made : rung) {
      const Trial& trial = state.trials.at(made.trial);
      const SearchPlan& plan = state.plans.at(trial.plan);
      const Claim& claim = plan.claims.at(made.claim);
      if (claim.state == ClaimState::kDone) ends.push_back({&plan, trial.leaf, TrainableStep(plan, claim)});
    }
    bound += MakespanLowerBound(WorkOf(state, ends, done), slots);
    for (const LineageEnd& end : ends) done.AddLineage(*end.plan, end.leaf, end.step);
  }
  return bound;
}

}  // namespace espalier::master
