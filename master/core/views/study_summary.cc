#include "master/core/views/study_summary.h"

#include <algorithm>

#include "master/core/views/held_back.h"
#include "master/core/views/trial_state.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

std::optional<StudyCheck> CheckOf(const MasterState& state, const Study& study) {
  if (!study.specification.reference) return std::nullopt;
  if (!IsChecked(study)) return StudyCheck{"off", ""};
  if (const CheckFinding* failed = FailedCheckOf(state, study)) return StudyCheck{"failed", WhyStopped(*failed)};
  if (const CheckFinding* finding = FindingOf(state, study)) {
    return StudyCheck{std::string(Name(finding->outcome)), finding->message};
  }
  const auto place = state.checks.find(CheckKeyOf(study));
  if (place == state.checks.end()) return StudyCheck{study.finished_at ? "not done" : "waiting", ""};
  const SlotId& slot = place->second.slot;
  return StudyCheck{"running", slot.server + "/" + std::to_string(slot.index)};
}

std::optional<ReusedStudy> ReusedBy(const MasterState& state, const Study& study) {
  const std::optional<Reuse>& reuse = study.specification.reuse;
  if (!reuse) return std::nullopt;
  return ReusedStudy{*reuse, state.studies.at(reuse->study).training.code_digest};
}

double Ratio(WideCount whole, WideCount part) {
  return part > 0 ? static_cast<double>(whole) / static_cast<double>(part) : 0;
}

}  // namespace

std::optional<BestTrial> BestOf(const MasterState& state, StudyId study) {
  std::optional<BestTrial> best = state.trial_index.at(study).best();
  if (const auto retired = state.retired.find(study); retired != state.retired.end()) return retired->second.best;
  if (!best) return best;
  const Trial& trial = state.trials.at(best->trial);
  const SearchPlan& plan = state.plans.at(trial.plan);
  best->step = AnsweredAt(plan, PointOn(plan, trial.leaf, best->step)).step;
  return best;
}

StudySummary Summarize(const MasterState& state, StudyId study_id, Time now) {
  const Study& study = state.studies.at(study_id);
  const TrialIndex& trials = state.trial_index.at(study_id);
  const StepTotals steps = state.index.steps.Of(state, study_id);
  return {.id = study_id,
          .trials_by_state = CountTrialStates(state, study_id),
          .steps = {.claimed = trials.claimed_steps(),
                    .unique = steps.unique,
                    .trained = steps.trained,
                    .re_derived = steps.re_derived,
                    .wasted = steps.wasted,
                    .reused = steps.reused},
          .merge_rate = Ratio(trials.claimed_steps(), steps.unique),
          .time_weighted_merge_rate = Ratio(steps.claimed_time, steps.unique_time),
          .use = UseOf(state, study_id, now),
          .elapsed = study.finished_at.value_or(now) - study.created_at,
          .best = BestOf(state, study_id),
          .check = CheckOf(state, study),
          .reuse = ReusedBy(state, study),
          .held_back = study.finished_at ? "" : WhyHeldBack(state, study, now)};
}

}  // namespace espalier::master
