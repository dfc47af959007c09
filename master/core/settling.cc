#include "master/core/settling.h"

#include <algorithm>

#include "master/core/state/claims.h"
#include "master/core/state/trainer_check.h"
#include "master/core/stopping.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

// By order of the trials' submission, whenever they made these claims: tuners rank what one evaluation settles by the
// order of its events.
void SettleAll(Draft& draft, PlanId plan, const PlanEdit& settled) {
  std::map<std::pair<TrialId, ClaimId>, ClaimState> states;
  for (const PlanChange& change : settled) {
    const auto& settle = std::get<SettleClaim>(change);
    states.emplace(std::pair(draft.state().plans.at(plan).claims.at(settle.claim).trial, settle.claim), settle.state);
  }
  for (const auto& [claim, state] : states) Settle(draft, plan, claim.second, state);
}

void AddIfSettled(const SearchPlan& plan, ClaimId id, PlanEdit& edit) {
  if (const auto settled = SettledState(plan, plan.claims.at(id))) edit.push_back(SettleClaim{id, *settled});
}

// Of the claims that wait at the point or beyond it.
PlanEdit SettledFrom(const MasterState& state, PlanId plan_id, Point point) {
  PlanEdit edit;
  const auto needs = state.index.needs.find(plan_id);
  if (needs == state.index.needs.end()) return edit;
  const SearchPlan& plan = state.plans.at(plan_id);
  for (const auto& [id, waits_at] : needs->second.WaitingFrom(plan, point)) AddIfSettled(plan, id, edit);
  return edit;
}

// Of the claims that wait at the point.
PlanEdit SettledAt(const MasterState& state, PlanId plan_id, Point point) {
  PlanEdit edit;
  const auto needs = state.index.needs.find(plan_id);
  const Place* place = needs == state.index.needs.end() ? nullptr : needs->second.Find(point);
  if (place == nullptr) return edit;
  const SearchPlan& plan = state.plans.at(plan_id);
  for (const auto& [evaluation, waiting] : place->waiting) {
    for (const ClaimId id : waiting.claims) AddIfSettled(plan, id, edit);
  }
  return edit;
}

// Whether the trial has claimed the point's state alone, and waits for it.
bool ClaimsState(const MasterState& state, TrialId trial, const SearchPlan& plan, Point point) {
  const std::set<ClaimId>& claimed = StateClaimsOf(state, trial);
  return std::any_of(claimed.begin(), claimed.end(), [&](ClaimId id) { return plan.claims.at(id).point == point; });
}

// Of each trial with a claim that is done there, and that nobody has cancelled: one.
std::vector<Claim> StateClaimsAt(const MasterState& state, const SearchPlan& plan, Point point) {
  std::map<TrialId, Claim> claims;
  for (const ClaimId id : plan.ClaimsAt(point)) {
    const Claim& claim = plan.claims.at(id);
    const Trial& trial = state.trials.at(claim.trial);
    const Study& study = state.studies.at(trial.study);
    if (claim.state != ClaimState::kDone || trial.cancelled || study.cancelled || study.finished_at) continue;
    if (FailedCheckOf(state, study) != nullptr) continue;
    if (ClaimsState(state, trial.id, plan, point)) continue;
    claims.try_emplace(trial.id, Claim{.trial = trial.id, .point = point, .evaluation = std::string(kStateAlone)});
  }
  std::vector<Claim> made;
  for (auto& [trial, claim] : claims) made.push_back(std::move(claim));
  return made;
}

bool IsOver(const MasterState& state, const Study& study) {
  if (!study.closing || study.finished_at) return false;
  if (state.trial_index.at(study.id).Count(TrialStanding::kWaiting) > 0) return false;
  const auto awaited = state.states_awaited.find(study.id);
  return awaited == state.states_awaited.end() || awaited->second == 0;
}

}  // namespace

void AppendEvent(Draft& draft, StudyId study, StudyEvent event, bool answered_at_claim) {
  const auto events = draft.state().events.find(study);
  const std::int64_t count =
      events == draft.state().events.end() ? 0 : static_cast<std::int64_t>(events->second.size());
  draft.Do(AddStudyEvent{study, count + 1, std::move(event), draft.now, answered_at_claim});
}

void Settle(Draft& draft, PlanId plan_id, ClaimId claim_id, ClaimState state) {
  draft.Do(plan_id, {SettleClaim{claim_id, state}});
  const SearchPlan& plan = draft.state().plans.at(plan_id);
  const Claim& claim = plan.claims.at(claim_id);
  if (IsForStateAlone(claim)) return;  // the study heard of the metrics
  const Trial& trial = draft.state().trials.at(claim.trial);
  const Study& study = draft.state().studies.at(trial.study);
  ClaimSettled settled{.claim = claim_id, .trial = trial.id, .step = claim.point.step, .state = state};
  bool answered_at_claim = false;
  if (state == ClaimState::kDone) {
    settled.metrics = AnswerOf(plan, claim, study.metric_names);
    const Point answered_at = AnsweredAt(plan, claim.point);
    answered_at_claim = answered_at == claim.point && plan.FindMetrics(answered_at, claim.evaluation) != nullptr;
  }
  if (state == ClaimState::kFailed) settled.message = WhyFailed(draft.state(), plan, claim);
  NoteReached(draft, study, settled);
  AppendEvent(draft, study.id, settled, answered_at_claim);
}

void SettleTouched(Draft& draft) {
  const auto failed = draft.touched.failed_points;
  for (const auto& [plan, points] : failed) {
    for (const Point point : points) SettleAll(draft, plan, SettledFrom(draft.state(), plan, point));
  }
  const auto settle = draft.touched.points_to_settle;
  for (const auto& [plan, points] : settle) {
    for (const Point point : points) SettleAll(draft, plan, SettledAt(draft.state(), plan, point));
  }
}

void ClaimLostStates(Draft& draft) {
  const MasterState& state = draft.state();
  const auto lost = draft.touched.lost_states;
  for (const auto& [plan_id, points] : lost) {
    const SearchPlan& plan = state.plans.at(plan_id);
    for (const Point point : points) {
      if (plan.FindStateDigest(point) != nullptr) continue;
      if (FailingPoint(plan, point)) continue;
      for (Claim& claim : StateClaimsAt(state, plan, point)) {
        claim.id = state.next.claim;
        draft.Do(plan_id, {AddClaim{std::move(claim)}});
      }
    }
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
