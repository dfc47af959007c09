#include "master/core/settling.h"

#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

void SettleAll(Draft& draft, PlanId plan, const PlanEdit& settled) {
  for (const PlanChange& change : settled) {
    const auto& settle = std::get<SettleClaim>(change);
    Settle(draft, plan, settle.claim, settle.state);
  }
}

bool IsOver(const MasterState& state, const Study& study) {
  if (!study.closing || study.finished_at) return false;
  if (state.trial_index.at(study.id).Count(TrialStanding::kWaiting) > 0) return false;
  const auto awaited = state.states_awaited.find(study.id);
  return awaited == state.states_awaited.end() || awaited->second == 0;
}

}  // namespace

void AppendEvent(Draft& draft, StudyId study, StudyEvent event) {
  const auto events = draft.state().events.find(study);
  const std::int64_t count =
      events == draft.state().events.end() ? 0 : static_cast<std::int64_t>(events->second.size());
  draft.Do(AddStudyEvent{study, count + 1, std::move(event)});
}

void Settle(Draft& draft, PlanId plan_id, ClaimId claim_id, ClaimState state) {
  draft.Do(plan_id, {SettleClaim{claim_id, state}});
  const SearchPlan& plan = draft.state().plans.at(plan_id);
  const Claim& claim = plan.claims.at(claim_id);
  const Trial& trial = draft.state().trials.at(claim.trial);
  const Study& study = draft.state().studies.at(trial.study);
  ClaimSettled settled{.claim = claim_id, .trial = trial.id, .step = claim.point.step, .state = state};
  if (state == ClaimState::kDone) settled.metrics = AnswerOf(plan, claim, study.metric_names);
  if (state == ClaimState::kFailed) settled.message = WhyFailed(plan, claim);
  AppendEvent(draft, study.id, settled);
}

void SettleTouched(Draft& draft) {
  for (const auto& [plan, points] : draft.touched.failed_points) {
    SettleAll(draft, plan, SettleClaims(draft.state().plans.at(plan)));
  }
  const auto settle = draft.touched.points_to_settle;
  for (const auto& [plan, points] : settle) {
    for (const Point point : points) SettleAll(draft, plan, SettleClaimsAt(draft.state().plans.at(plan), point));
  }
}

void FinishStudies(Draft& draft) {
  const std::set<StudyId> studies = draft.touched.studies;
  for (const StudyId id : studies) {
    if (!IsOver(draft.state(), draft.state().studies.at(id))) continue;
    draft.Do(FinishStudy{id, draft.now});
    AppendEvent(draft, id, StudyFinished{});
  }
}

}  // namespace espalier::master
