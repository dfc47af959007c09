#include "master/core/calls/trial_edits.h"

#include <algorithm>

#include "master/core/settling.h"
#include "master/core/state/claims.h"
#include "searchplan/plan/insert_trial.h"

namespace espalier::master {

Scope ScopeOf(const Study& study) {
  const bool is_known = study.training.data_digest != kUnknownData;
  return is_known ? study.specification.scope : std::min(study.specification.scope, Scope::kStudy);
}

PlanIdentity PlanIdentityOf(const Study& study, TrialId trial) {
  PlanIdentity identity{.training = study.training, .device_kind = study.device_kind, .sharing = {}};
  Sharing& sharing = identity.sharing;
  sharing.scope = ScopeOf(study);
  switch (sharing.scope) {
    case Scope::kNobody:
      sharing.study = study.id;
      sharing.trial = trial;
      break;
    case Scope::kStudy:
      sharing.study = study.id;
      break;
    case Scope::kTeam:
      sharing.team = study.team;
      break;
    case Scope::kEveryone:
      break;
  }
  return identity;
}

PlanId PlanFor(Draft& draft, const Study& study, TrialId trial) {
  const PlanIdentity identity = PlanIdentityOf(study, trial);
  const auto known = draft.state().plan_by_identity.find(DigestOf(identity));
  if (known != draft.state().plan_by_identity.end()) return known->second;
  const PlanId plan = draft.state().next.plan;
  draft.Do(AddPlan{plan, identity});
  return plan;
}

ClaimId MakeClaim(Draft& draft, StudyId study_id, TrialId trial_id, Step step) {
  const Trial& trial = draft.state().trials.at(trial_id);
  const Study& study = draft.state().studies.at(study_id);
  const Claim claim{.id = draft.state().next.claim,
                    .trial = trial_id,
                    .point = PointOn(draft.state().plans.at(trial.plan), trial.leaf, step),
                    .evaluation = study.evaluation};
  const PlanId plan = trial.plan;
  draft.Do(plan, {AddClaim{claim}});
  AppendEvent(draft, study_id, ClaimMade{claim.id, trial_id, step});
  return claim.id;
}

void ClaimItsState(Draft& draft, PlanId plan_id, ClaimId claim) {
  const SearchPlan& plan = draft.state().plans.at(plan_id);
  Claim state = plan.claims.at(claim);
  if (plan.FindCheckpoint(state.point) != nullptr) return;
  state.id = draft.state().next.claim;
  state.evaluation = kStateAlone;
  draft.Do(plan_id, {AddClaim{std::move(state)}});
}

TrialId EnterTrial(Draft& draft, StudyId study_id, const ResolvedTrial& resolved, PlanId plan,
                   const std::optional<Origin>& origin) {
  const TrialId id = draft.state().next.trial;
  Insertion insertion =
      InsertTrial(draft.state().plans.at(plan), resolved.segments, draft.state().next.plan_node, origin);
  for (PlanChange& change : insertion.edit) std::get<AddPlanNode>(change).caused_by = study_id;
  draft.Do(plan, std::move(insertion.edit));
  draft.Do(AddTrial{{.id = id,
                     .study = study_id,
                     .plan = plan,
                     .leaf = insertion.leaf,
                     .horizon = resolved.horizon,
                     .sequences = resolved.trial->sequences}});
  AppendEvent(draft, study_id, TrialSubmitted{id});
  return id;
}

void EndTrial(Draft& draft, TrialId id, bool cancelled) {
  const Trial& trial = draft.state().trials.at(id);
  const StudyId study = trial.study;
  const PlanId plan = trial.plan;
  if (cancelled) {
    std::vector<ClaimId> claims = trial.claims;
    const std::set<ClaimId>& states = StateClaimsOf(draft.state(), id);
    claims.insert(claims.end(), states.begin(), states.end());
    for (const ClaimId claim : claims) {
      if (draft.state().plans.at(plan).waiting.contains(claim)) Settle(draft, plan, claim, ClaimState::kCancelled);
    }
  }
  if (!trial.closed) {
    draft.Do(CloseTrial{id, cancelled});
    AppendEvent(draft, study, TrialClosed{id, cancelled});
  }
}

void CloseStudyWithTrials(Draft& draft, StudyId study, bool cancelled) {
  const std::vector<TrialId> trials = draft.state().trials_by_study.at(study);
  for (const TrialId trial : trials) {
    if (cancelled || !draft.state().trials.at(trial).closed) EndTrial(draft, trial, cancelled);
  }
  const Study& closing = draft.state().studies.at(study);
  if (!closing.closing || (cancelled && !closing.cancelled)) draft.Do(CloseStudy{study, cancelled});
}

}  // namespace espalier::master
