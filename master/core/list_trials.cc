#include "master/core/claims.h"
#include "master/core/running_work.h"
#include "master/core/summary.h"
#include "searchplan/plan/record_result.h"

namespace espalier {
namespace {

TrialSummary SummarizeTrial(const MasterState& state, const RunningWork& running, const Study& study,
                            const Trial& trial) {
  const SearchPlan& plan = state.plans.at(trial.plan);
  TrialSummary summary{.id = trial.id, .state = TrialState(state, running, trial)};
  for (const ClaimId id : trial.claims) {
    const Claim& claim = plan.claims.at(id);
    if (claim.state == ClaimState::kDone) {
      summary.evaluations.push_back({claim.point.step, AnswerOf(plan, claim, study.metric_names)});
    }
    if (claim.state == ClaimState::kFailed && summary.message.empty()) summary.message = WhyFailed(plan, claim);
  }
  const Claim* last = LastDoneClaim(plan, trial);
  if (last == nullptr) return summary;
  summary.steps = last->point.step;
  const Metrics& metrics = summary.evaluations.back().metrics;
  if (const auto metric = metrics.find(study.specification.metric); metric != metrics.end()) {
    summary.metric = metric->second;
  }
  if (const PointRecord* record = plan.FindPoint(last->point)) summary.state_sha256 = record->state_sha256;
  return summary;
}

}  // namespace

std::vector<TrialSummary> ListTrials(const MasterState& state, StudyId study_id) {
  const Study& study = state.studies.at(study_id);
  const RunningWork running = RunningWorkOf(state);
  std::vector<TrialSummary> trials;
  for (const TrialId trial : state.trials_by_study.at(study_id)) {
    trials.push_back(SummarizeTrial(state, running, study, state.trials.at(trial)));
  }
  return trials;
}

}  // namespace espalier
