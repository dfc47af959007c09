#include "master/core/views/summary.h"

#include <algorithm>

#include "master/core/state/claims.h"
#include "master/core/views/lineage_work.h"
#include "master/core/views/running_work.h"
#include "master/core/views/step_counts.h"
#include "scheduler/lower_bound.h"

namespace espalier::master {
namespace {

double TimeWeightedMergeRate(const MasterState& state, StudyId study, StepTimes& times) {
  StepSet seen;
  Seconds claimed{0};
  Seconds unique{0};
  for (const TrialId id : state.trials_by_study.at(study)) {
    const Trial& trial = state.trials.at(id);
    const SearchPlan& plan = state.plans.at(trial.plan);
    const Claim* last = LastDoneClaim(plan, trial);
    if (last == nullptr) continue;
    for (const StepRange& range : LineageRanges(plan, trial.leaf, last->point.step)) {
      const Seconds step_time = times.Of(plan.Node(range.node));
      const std::int64_t count = range.to - range.from;
      claimed += step_time * static_cast<double>(count);
      unique += step_time * static_cast<double>(count - seen.CountIn(range));
      seen.Add(range);
    }
  }
  return unique > Seconds{0} ? claimed / unique : 0;
}

// What was charged to the study, and its part of what runs that serve it have held since they were charged.
Seconds DeviceTime(const MasterState& state, StudyId study, Time now) {
  const auto charged = state.device_time.find(study);
  Seconds sum = std::chrono::microseconds(charged == state.device_time.end() ? 0 : charged->second);
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training() || !std::binary_search(run.serves.begin(), run.serves.end(), study)) continue;
    sum += Seconds(now - run.charged_to) / static_cast<double>(run.serves.size());
  }
  return sum;
}

// The first claims of all trials are a rung, the second ones, and so on; of each, those that are done. What earlier
// rungs trained, or other studies before this one (`done`), takes no time.
Seconds MakespanBound(const MasterState& state, const Study& study, StepSet done, StepTimes& times) {
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

}  // namespace

StudySummary Summarize(const MasterState& state, StudyId study_id, Time now) {
  const Study& study = state.studies.at(study_id);
  const StepSet unique = UniqueSteps(state, study_id);
  const StepSet reused = ReusedSteps(state, study, unique);
  StepTimes times = StepTimesOf(state, study);
  StudySummary summary{.id = study_id, .steps = CountSteps(state, study, unique, reused)};
  for (const TrialId trial : state.trials_by_study.at(study_id)) {
    ++summary.trials_by_state[TrialState(state, state.trials.at(trial))];
  }
  if (summary.steps.unique > 0) {
    summary.merge_rate = static_cast<double>(summary.steps.claimed) / static_cast<double>(summary.steps.unique);
  }
  summary.time_weighted_merge_rate = TimeWeightedMergeRate(state, study_id, times);
  summary.slot_seconds = DeviceTime(state, study_id, now);
  summary.elapsed = study.finished_at.value_or(now) - study.created_at;
  summary.makespan_bound = MakespanBound(state, study, reused, times);
  summary.best = state.trial_index.at(study_id).best();
  return summary;
}

}  // namespace espalier::master
