#include "master/core/views/study_progress.h"

#include <algorithm>
#include <cmath>

#include "master/core/views/held_back.h"
#include "master/core/views/lineage_work.h"
#include "master/core/views/running_work.h"
#include "master/core/views/trial_state.h"
#include "scheduler/cost_features.h"

namespace espalier::master {
namespace {

// What runs and ready paths have still to do, in microseconds.
struct Left {
  WideCount longest = 0;
  WideCount work = 0;
};

void AddRun(const NeedIndex& needs, const Run& run, Left& left) {
  WideCount time = 0;
  for (const StepRange& range : PathRanges(run, run.at(), EndOf(run))) {
    const WideCount work = WideCount{needs.StepTimeOf(range.node)} * (range.to - range.from);
    time += work;
    left.work += work;
    const Place* place = needs.Find({range.node, range.to});
    left.longest = std::max(left.longest, time + (place == nullptr ? 0 : place->below.longest));
  }
}

// What a claim takes a slot besides its steps, in microseconds: most are the end of a run of their own, which loads a
// state, sets up and evaluates.
double TimeOfAClaim(const MasterState& state, const SearchPlan& plan) {
  const auto costs = state.costs.find(plan.cost_key);
  if (costs == state.costs.end() || plan.roots.empty()) return 0;
  const Features features = FeaturesOf(plan.Node(plan.roots.front()));
  double time = 0;
  for (const CostKind kind : {CostKind::kSetUp, CostKind::kLoad, CostKind::kEvaluate}) {
    time += costs->second.Estimate(kind, features).value_or(0);
  }
  return time;
}

Left LeftOf(const MasterState& state, StudyId study) {
  Left left;
  const auto plans = state.index.plans_of_study.find(study);
  if (plans == state.index.plans_of_study.end()) return left;
  for (const PlanId plan : plans->second) {
    const auto needs = state.index.needs.find(plan);
    if (needs == state.index.needs.end()) continue;
    left.work += needs->second.work_left();
    const std::int64_t claims = needs->second.claims_left();
    if (claims > 0) left.work += std::llround(static_cast<double>(claims) * TimeOfAClaim(state, state.plans.at(plan)));
    left.longest = std::max(left.longest, needs->second.longest_left());
  }
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (run.training() && plans->second.contains(run.plan)) AddRun(state.index.needs.at(run.plan), run, left);
  }
  return left;
}

// The least time that is still needed on the slots there are: for all that is wanted of the study's plans, by whomever.
// Negative if it cannot be told: also as long as some of it was guessed before anything was measured.
Seconds EstimateLeft(const MasterState& state, const Study& study) {
  if (state.trial_index.at(study.id).Count(TrialStanding::kWaiting) == 0) return Seconds{0};
  const int slots = SlotCount(state, study);
  const auto costs = state.costs.find({DigestOf(study.training), study.device_kind});
  if (slots == 0 || costs == state.costs.end() || !costs->second.IsMeasured(CostKind::kStep)) return Seconds{-1};
  for (const PlanId plan : state.index.plans_of_study.at(study.id)) {
    if (state.index.guessed.contains(plan)) return Seconds{-1};
  }
  const Left left = LeftOf(state, study.id);
  return std::max(SecondsOfMicroseconds(left.longest), SecondsOfMicroseconds(left.work) / slots);
}

std::vector<std::string> WarningsOf(const MasterState& state, StudyId study, Time now) {
  std::vector<std::string> warnings;
  const std::string held_back = WhyHeldBack(state, state.studies.at(study), now);
  if (!held_back.empty()) warnings.push_back("nothing is begun for it: " + held_back);
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training() || !std::binary_search(run.serves.begin(), run.serves.end(), study)) continue;
    if (auto warning = LongStepOf(state, run, now)) warnings.push_back(*std::move(warning));
  }
  return warnings;
}

}  // namespace

StudyProgress ProgressOf(const MasterState& state, StudyId study_id, Time now) {
  const StepTotals steps = state.index.steps.Of(state, study_id);
  return {.trials_by_state = CountTrialStates(state, study_id),
          .claimed_steps = steps.wanted,
          .unique_steps = steps.wanted_once,
          .trained_steps = steps.wanted_trained,
          .left = EstimateLeft(state, state.studies.at(study_id)),
          .warnings = WarningsOf(state, study_id, now)};
}

}  // namespace espalier::master
