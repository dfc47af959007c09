#include <algorithm>
#include <set>

#include "base/key_text.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "master/core/state/demand.h"
#include "master/core/state/stages.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

constexpr std::size_t kPlacesMax = 100'000;

// What stands in the way of a stage: how it is cleared, and whom it fails.
struct Obstacles {
  PlanEdit clearing;
  std::vector<ClaimId> failed;
  std::set<Point> paused;               // the first steps of the stages that what is cleared keeps waiting
  std::vector<StageBeginning> refused;  // that servers did not take
};

// Where training was out of memory it would be again with no more, so what it takes stays, as long as a server has so
// much.
std::optional<Attempts> Cleared(const MasterState& state, const SearchPlan& plan, const Attempts& attempts) {
  if (attempts.demand == Demand{} || !IsHad(state, plan, attempts.demand)) return std::nullopt;
  return Attempts{.begun_at = attempts.begun_at, .log = attempts.log, .demand = attempts.demand};
}

void ClearAttempts(const MasterState& state, const SearchPlan& plan, Point point, Obstacles& found) {
  std::set<std::pair<PlanNodeId, AttemptKey>> attempts;
  for (const auto& [key, counted] : plan.Node(point.node).results->attempts) {
    if (key.evaluation.empty() ? key.from < point.step : key.from == point.step) attempts.insert({point.node, key});
  }
  if (const auto needed = NeededAt(state, plan, point)) {
    const auto pauses = state.pauses.find({{needed->head, needed->source.step}, ""});
    if (pauses != state.pauses.end()) {
      for (const Pause& pause : pauses->second) attempts.insert({pause.node, pause.key});
    }
  }
  for (const auto& [node, key] : attempts) {
    const Attempts& counted = *plan.FindAttempts(node, key);
    std::optional<Attempts> cleared = Cleared(state, plan, counted);
    if (cleared == counted) continue;
    found.clearing.push_back(SetAttempts{node, key, std::move(cleared)});
    found.paused.insert({counted.begun_at.node, counted.begun_at.step + 1});
  }
}

std::vector<StageBeginning> FindRefused(const MasterState& state, const SearchPlan& plan, Point point) {
  std::vector<StageBeginning> refused;
  const auto needed = NeededAt(state, plan, point);
  for (auto it = state.refusals.lower_bound({point, ""}); it != state.refusals.end() && it->first.first == point;
       ++it) {
    if (!it->first.second.empty()) refused.push_back(it->first);  // evaluations there
  }
  const StageBeginning path{needed ? Point{needed->head, needed->source.step} : point, ""};
  if (needed && state.refusals.contains(path)) refused.push_back(path);
  return refused;
}

Obstacles FindObstacles(const MasterState& state, const SearchPlan& plan, Point point) {
  Obstacles found;
  const bool training_failed = plan.FindFailure(point) != nullptr;
  if (training_failed) found.clearing.push_back(SetFailure{point, std::nullopt});
  std::set<std::string> evaluations;
  const auto& failures = plan.Node(point.node).results->evaluation_failures;
  if (const auto there = failures.find(point.step); there != failures.end()) {
    for (const auto& [evaluation, why] : there->second) {
      evaluations.insert(evaluation);
      found.clearing.push_back(SetEvaluationFailure{point, evaluation, std::nullopt});
    }
  }
  ClearAttempts(state, plan, point, found);
  found.refused = FindRefused(state, plan, point);
  if (!training_failed && evaluations.empty()) return found;
  for (const ClaimId id : ClaimsFailedAt(plan, point)) {
    const Claim& claim = plan.claims.at(id);
    const bool of_evaluation = claim.point == point && evaluations.contains(claim.evaluation);
    if (training_failed || of_evaluation) found.failed.push_back(id);
  }
  return found;
}

tl::unexpected<Error> NothingFailed(const SearchPlan& plan, Point point) {
  const std::optional<Point> failing = FailingPoint(plan, point);
  return MakeError(ErrorCode::kFailedPrecondition,
                   "nothing failed at " + NameOf(point) +
                       (failing ? "; what fails it is " + NameOf(*failing) + ": retry that"
                                : "; `espalier stage explain " + NameOf(point) + "` says how it stands"),
                   "stage");
}

// Whose trial it fails, or makes wait.
bool ConcernsUser(const MasterState& state, const SearchPlan& plan, Point point, const Obstacles& found,
                  const std::string& user) {
  const auto is_users = [&](ClaimId claim) {
    return state.studies.at(state.trials.at(plan.claims.at(claim).trial).study).user == user;
  };
  const auto is_wanted = [&](Point at) {
    return std::ranges::any_of(ClaimsWanting(state, plan, at, kPlacesMax).claims, is_users);
  };
  return std::ranges::any_of(found.failed, is_users) || is_wanted(point) ||
         std::ranges::any_of(found.paused, is_wanted);
}

void MakeAgain(Draft& draft, PlanId plan, Claim claim) {
  if (!IsForStateAlone(claim)) {
    MakeClaim(draft, draft.state().trials.at(claim.trial).study, claim.trial, claim.point.step);
    return;
  }
  claim.id = draft.state().next.claim;
  claim.state = ClaimState::kWaiting;
  draft.Do(plan, {AddClaim{std::move(claim)}});
}

}  // namespace

Digest128 ContentOf(const Caller& caller, const RetryStage& call) {
  return DigestOf(KeyText("retry-stage-1").Add(caller.user).Add(NameOf(call.point)).text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const RetryStage& call) {
  const MasterState& state = draft.state();
  ESPALIER_ASSIGN(const SearchPlan* plan, FindStage(state, call.point, caller));
  const Failure* failure = plan->FindFailure(call.point);
  if (failure != nullptr && IsResult(*failure)) {
    const bool diverged = failure->kind == Failure::Kind::kDiverged;
    return MakeError(ErrorCode::kFailedPrecondition,
                     "training " + std::string(diverged ? "diverged at " : "was finished before ") +
                         NameOf(call.point) + ", and would again: that is its result",
                     "stage");
  }
  const Obstacles found = FindObstacles(state, *plan, call.point);
  if (found.clearing.empty() && found.refused.empty()) return NothingFailed(*plan, call.point);
  if (!ConcernsUser(state, *plan, call.point, found, caller.user)) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "no trial of yours is failed by " + NameOf(call.point) + " or waits for it; whose is may retry it",
                     "stage");
  }
  draft.Log(LogLevel::kInfo, "stage retried",
            {{"plan", plan->id}, {"node", call.point.node}, {"step", call.point.step}});
  draft.Do(plan->id, found.clearing);
  for (const StageBeginning& stage : found.refused) draft.Do(ForgetRefusals{stage});
  std::set<TrialId> trials;
  std::set<TrialId> others;
  for (const ClaimId id : found.failed) {
    const Claim& claim = plan->claims.at(id);
    const Trial& trial = state.trials.at(claim.trial);
    if (trial.cancelled || state.studies.at(trial.study).finished_at) continue;
    MakeAgain(draft, plan->id, claim);
    (MaySee(caller, state.studies.at(trial.study)) ? trials : others).insert(trial.id);
  }
  std::vector<std::int64_t> ids = {static_cast<std::int64_t>(others.size())};
  for (const TrialId trial : trials) ids.push_back(trial.value);
  return ids;
}

StageRetried AnswerOf(const RetryStage&, const std::vector<std::int64_t>& ids) {
  StageRetried retried{.trials = {}, .other_count = ids.at(0)};
  for (std::size_t i = 1; i < ids.size(); ++i) retried.trials.push_back(TrialId{ids[i]});
  return retried;
}

}  // namespace espalier::master
