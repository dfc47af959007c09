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
  draft.touched_studies.insert(study.id);
  draft.schedule = true;
}

void SettleTouched(Draft& draft) {
  for (const PlanId plan : draft.plans_to_settle) {
    SettleAll(draft, plan, SettleClaims(draft.state().plans.at(plan)));
  }
  for (const auto& [plan, points] : draft.points_to_settle) {
    for (const Point point : points) SettleAll(draft, plan, SettleClaimsAt(draft.state().plans.at(plan), point));
  }
  for (const StudyId id : draft.touched_studies) {
    const Study& study = draft.state().studies.at(id);
    if (!study.closing || study.finished_at) continue;
    if (draft.state().trial_index.at(id).Count(TrialStanding::kWaiting) > 0) continue;
    draft.Do(FinishStudy{id, draft.now});
    AppendEvent(draft, id, StudyFinished{});
  }
}

}  // namespace espalier::master
