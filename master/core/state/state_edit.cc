#include "master/core/state/state_edit.h"

#include <algorithm>

#include "base/check.h"
#include "master/core/state/cache_keeper.h"
#include "master/core/state/demand.h"
#include "master/core/state/device_time.h"
#include "master/core/state/fair_keeper.h"
#include "master/core/state/index_keeper.h"
#include "master/core/state/retirement_keeper.h"
#include "master/core/state/usage.h"

namespace espalier::master {
namespace {

template <class Key, class Value>
Value& Existing(std::map<Key, Value>& map, const Key& key, const char* what) {
  const auto it = map.find(key);
  ESPALIER_CHECK(it != map.end()) << "no such " << what;
  return it->second;
}

template <class Key, class Value>
void AddNew(std::map<Key, Value>& map, const Key& key, Value value, const char* what) {
  ESPALIER_CHECK(map.emplace(key, std::move(value)).second) << what << " exists";
}

template <class Tag>
void Count(Id<Tag>& next, Id<Tag> used) {
  next.value = std::max(next.value, used.value + 1);
}

struct Applier {
  MasterState& state;

  void operator()(const AddOffer& change) const {
    AddNew(state.offers, DigestOf(change.offer.offer), change.offer, "offer");
  }

  void operator()(const ListOffer& change) const { Existing(state.offers, change.offer, "offer").listed = true; }

  void operator()(const AddStudy& change) const {
    AddNew(state.studies, change.study.id, change.study, "study");
    state.running_studies.insert(change.study.id);
    state.events[change.study.id];
    state.trials_by_study[change.study.id];
    state.trial_index[change.study.id];
    state.tuner_turns[change.study.id];
    IndexKeeper(state).StudyAdded(change.study);
    Count(state.next.study, change.study.id);
  }

  void operator()(const CloseStudy& change) const {
    Study& study = Existing(state.studies, change.study, "study");
    IndexKeeper(state).TunerEnded(study);
    study.closing = true;
    study.cancelled |= change.cancelled;
    if (study.stopped.empty()) study.stopped = change.stopped;
  }

  void operator()(const FinishStudy& change) const {
    Study& study = Existing(state.studies, change.study, "study");
    ESPALIER_CHECK(!study.finished_at) << "study " << change.study.value << " is finished";
    study.finished_at = change.at;
    state.running_studies.erase(change.study);
    IndexKeeper(state).StudyFinished(study);
    RetirementKeeper(state).Finished(study);
  }

  void operator()(const SetKeep& change) const {
    RetirementKeeper(state).ListAnew(change.study);
    Study& study = Existing(state.studies, change.study, "study");
    if (!IsRetired(state, study.id)) return CacheKeeper(state).KeepOf(study, change.keep);
    study.keep = change.keep;
    CacheKeeper(state).KeepOf(state.retired.at(study.id), change.kept.value());
  }

  void operator()(const RetireStudy& change) const {
    AddNew(state.retired, change.study, change.as, "retired study");
    RetirementKeeper(state).Retired(change.study);
  }
  void operator()(const RetireRuns& change) const {
    for (const RunId run : change.runs) RetirementKeeper(state).Leave(Existing(state.runs, run, "run"));
  }
  void operator()(const PutOffRetirement& change) const {
    RetirementKeeper(state).PutOff(Existing(state.studies, change.study, "study"), change.until);
  }
  void operator()(const PutOffLeaving& change) const { RetirementKeeper(state).LeavesFrom(change.run, change.until); }
  void operator()(const ListKept& change) const {
    RetirementKeeper(state).ListKept(Existing(state.studies, change.study, "study"), change.count);
  }
  void operator()(const ForgetRequests& change) const {
    RetirementKeeper(state).ForgetRequests(change.before, change.count);
  }
  void operator()(const ForgetSome& change) const { RetirementKeeper(state).Forget(change.study, change.count); }

  void operator()(const AddPlan& change) const {
    AddNew(state.plans, change.plan, NewPlan(change.plan, change.identity), "plan");
    AddNew(state.plan_by_identity, DigestOf(change.identity), change.plan, "plan of that identity");
    Count(state.next.plan, change.plan);
  }

  void operator()(const ChangePlan& change) const {
    SearchPlan& plan = Existing(state.plans, change.plan, "plan");
    if (const auto* attempts = std::get_if<SetAttempts>(&change.change)) SetPause(plan, *attempts);
    if (const auto* measured = std::get_if<SetMeasurement>(&change.change)) TakeMeasurement(plan, *measured);
    ApplyToPlan(plan, change.change);
    if (const auto* attempts = std::get_if<SetAttempts>(&change.change)) TakeDemand(state, plan, attempts->node);
    if (const auto* node = std::get_if<AddPlanNode>(&change.change)) {
      Count(state.next.plan_node, node->id);
      UsageKeeper(state).Count(node->caused_by, &Usage::plan_nodes, 1);
    }
    if (const auto* settled = std::get_if<SettleClaim>(&change.change)) {
      const Claim& claim = plan.claims.at(settled->claim);
      if (!MayBeDone(settled->state)) Await(claim, -1);
      if (IsForStateAlone(claim)) CountStateClaim(claim, -1);
    }
    if (const auto* added = std::get_if<AddClaim>(&change.change)) {
      const Claim& claim = added->claim;
      Trial& trial = Existing(state.trials, claim.trial, "trial");
      if (!IsForStateAlone(claim)) {
        AddInOrder(trial.claims, plan, claim);
      } else if (claim.state == ClaimState::kWaiting) {
        CountStateClaim(claim, 1);
      }
      if (IsForStateAlone(claim)) state.index.state_claims[claim.trial].push_back(claim.id);
      AddNew(state.plan_by_claim, claim.id, change.plan, "claim");
      Count(state.next.claim, claim.id);
      if (MayBeDone(claim.state)) Await(claim, 1);
    }
    CountClaims(plan, change.change);
    IndexKeeper(state).PlanChanged(plan, change.change);
    if (const auto* measured = std::get_if<SetMeasurement>(&change.change)) {
      if (measured->kind == CostKind::kStep) IndexKeeper(state).Reestimate(plan, measured->node);
    }
  }

  void operator()(const AddTrial& change) const {
    AddNew(state.trials, change.trial.id, change.trial, "trial");
    state.trials_by_study[change.trial.study].push_back(change.trial.id);
    state.horizons[change.trial.study] += change.trial.horizon.value;
    state.index.plans_of_study[change.trial.study].insert(change.trial.plan);
    if (!change.trial.closed) state.open_trials[change.trial.plan].insert(change.trial.id);
    IndexKeeper(state).TrialAdded(change.trial);
    Count(state.next.trial, change.trial.id);
  }

  void operator()(const CloseTrial& change) const {
    Trial& trial = Existing(state.trials, change.trial, "trial");
    ESPALIER_CHECK(!trial.closed) << "trial " << change.trial.value << " is closed";
    trial.closed = true;
    trial.cancelled = change.cancelled;
    std::set<TrialId>& open = Existing(state.open_trials, trial.plan, "open trial of that plan");
    open.erase(trial.id);
    if (open.empty()) state.open_trials.erase(trial.plan);
    IndexKeeper(state).TrialClosed(trial);
  }

  void operator()(const SetLabel& change) const { Existing(state.trials, change.trial, "trial").label = change.label; }

  void operator()(const AddTrainingMetrics&) const {}
  void operator()(const AddStudyEvent& change) const {
    std::vector<StudyEvent>& events = state.events[change.study];
    ESPALIER_CHECK(change.number == static_cast<std::int64_t>(events.size()) + 1) << "event numbers have no gaps";
    events.push_back(change.event);
    state.event_times[change.study].push_back(change.at);
    const Study& study = Existing(state.studies, change.study, "study");
    const auto take = [&] { state.trial_index[change.study].Take(change.event, study); };
    TunerTurn& turn = Existing(state.tuner_turns, change.study, "study");
    turn.Take(change.event);
    IndexKeeper(state).ListToAsk(study, turn.MayBeAsked());
    const auto* settled = std::get_if<ClaimSettled>(&change.event);
    settled == nullptr ? take() : CacheKeeper(state).Around(study, *settled, take);
  }

  void operator()(const AddRun& change) const {
    state.index.steps.Touch(state, change.run);
    AddNew(state.runs, change.run.id, change.run, "run");
    Run& run = state.runs.at(change.run.id);
    run.open.clear();
    if (!run.ended()) state.active_runs.insert(run.id);
    Count(state.next.run, run.id);
    for (const auto& [id, promise] : run.promises) {
      Count(state.next.promise, id);
      if (promise.state != PromiseState::kOpen) continue;
      run.open.emplace(std::pair(promise.step, promise.owed), id);
      CountOpen(run, promise, 1);
    }
    const auto charges = std::exchange(run.charges, {});
    UsageKeeper(state).Around(run, [&] { AddCharges(state, run, charges); });
    for (const StudyId study : run.serves) run.charges.try_emplace(study, 0);
    for (const auto& [study, microseconds] : run.charges) state.index.runs_of_study[study].insert(run.id);
    IndexKeeper(state).RunAdded(run);
    state.index.steps.RunAdded(state, run);
  }

  void operator()(const MakePromise& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    const Promise& promise = change.promise;
    ESPALIER_CHECK(promise.state == PromiseState::kOpen && run.FindOpen(promise.step, promise.owed) == nullptr)
        << "run " << run.id.value << " has promised that at step " << promise.step.value;
    AddNew(run.promises, promise.id, promise, "promise");
    run.open.emplace(std::pair(promise.step, promise.owed), promise.id);
    Count(state.next.promise, promise.id);
    CountOpen(run, promise, 1);
    IndexKeeper(state).PromiseMade(run, promise);
    state.index.steps.PromiseMade(run, promise);
  }

  void operator()(const SettlePromise& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    Promise& promise = Existing(run.promises, change.promise, "promise");
    ESPALIER_CHECK(promise.state == PromiseState::kOpen) << "promise " << change.promise.value << " is settled";
    promise.state = change.state;
    promise.settled_at = change.at;
    run.open.erase({promise.step, promise.owed});
    CountOpen(run, promise, -1);
    IndexKeeper(state).PromiseSettled(run, promise);
  }

  void operator()(const SetTerms& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    run.generation = change.generation;
    run.preempt = change.preempt;
  }

  void operator()(const SetRunFailed& change) const { Existing(state.runs, change.run, "run").failed = true; }

  void operator()(const ChargeRun& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    const bool joined = std::any_of(change.serves.begin(), change.serves.end(),
                                    [&](StudyId study) { return !run.charges.contains(study); });
    if (joined) state.index.steps.Touch(state, run);
    run.serves = change.serves;
    for (const StudyId study : run.serves) {
      if (run.charges.try_emplace(study, 0).second) state.index.runs_of_study[study].insert(run.id);
    }
    FairKeeper(state).Serves(run);
    UsageKeeper(state).Around(run, [&] {
      run.charged_to = change.to;
      AddCharges(state, run, change.microseconds);
    });
  }

  void operator()(const SetRunState& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    const bool trained = run.training();
    run.state = change.state;
    if (trained && !run.training()) IndexKeeper(state).TrainingStopped(run);
    if (run.ended() && state.active_runs.erase(run.id) == 1) IndexKeeper(state).RunEnded(run);
  }

  void operator()(const AddRequest& change) const {
    AddNew(state.requests, change.key, change.answer, "request");
    if (change.key.first == StudyId{0}) state.index.own_requests.emplace(change.answer.at, change.key.second);
    if (IsRetired(state, change.key.first)) state.index.forgetting.insert(change.key.first);
  }
  void operator()(const SetUser& change) const { state.users.insert_or_assign(change.user.name, change.user); }
  void operator()(const AddArchive& change) const { AddNew(state.archives, change.sha256, change.archive, "archive"); }
  void operator()(const DropArchive& change) const { state.archives.erase(change.sha256); }
  void operator()(const AddReference& change) const {
    AddNew(state.references, DigestOf(change.reference), change.reference, "reference");
  }
  void operator()(const SetWeight& change) const {
    FairKeeper(state).SetWeight(change.team, change.study, change.weight);
  }
  void operator()(const SetQuota& change) const {
    CacheKeeper(state).Limit(change.party, change.quota.stored_bytes.has_value());
    if (change.quota.empty()) {
      state.quotas.erase(change.party);
    } else {
      state.quotas.insert_or_assign(change.party, change.quota);
    }
  }
  void operator()(const WantRoom& change) const { state.room_wanted.Want(change.run, change.bytes); }
  void operator()(const SetStopped& change) const {
    if (change.by) {
      state.stopped.insert_or_assign(change.party, *change.by);
    } else {
      state.stopped.erase(change.party);
    }
    FairKeeper(state).StoppedOrNot(change.party);
  }
  void operator()(const SetDrain& change) const {
    if (change.drain) {
      state.drains.insert_or_assign(change.server, *change.drain);
    } else {
      state.drains.erase(change.server);
    }
    IndexKeeper(state).DrainSet(change.server);
  }
  void operator()(const SetPolicy& change) const { state.policy = change.choice; }
  void operator()(const AskReference& change) const { state.asked.insert_or_assign(change.reference, change.at); }
  void operator()(const ForgetAsk& change) const { state.asked.erase(change.reference); }
  void operator()(const BeginAnalysis& change) const { state.analyses.emplace(change.trial, change.at); }
  void operator()(const EndAnalysis& change) const { state.analyses.erase({change.trial, change.at}); }
  void operator()(const AddCheckFinding& change) const {
    AddNew(state.check_findings, change.key, StoredFinding{change.finding, change.at}, "finding");
    state.index.checks_wanted.erase(change.key);
  }
  void operator()(const PlaceCheck& change) const {
    AddNew(state.checks, change.key, change.place, "check under way");
    const CheckPlace& place = change.place;
    IndexKeeper(state).SlotTaken(place.slot, place.reservation);
  }
  void operator()(const EndCheck& change) const {
    const CheckPlace place = Existing(state.checks, change.key, "check under way");
    state.checks.erase(change.key);
    IndexKeeper(state).SlotFreed(place.slot, place.reservation, place.incarnation);
  }
  void operator()(const SetServer& change) const {
    const auto before = state.servers.find(change.server.name);
    IndexKeeper(state).ServerSet(before == state.servers.end() ? nullptr : &before->second, change.server);
    const bool is_another = before != state.servers.end() && before->second.incarnation != change.server.incarnation;
    if (is_another) ForgetRefusalsOf(change.server.name);
    state.servers.insert_or_assign(change.server.name, change.server);
  }
  void operator()(const RemoveServer& change) const {
    const auto server = state.servers.find(change.name);
    if (server == state.servers.end()) return;
    IndexKeeper(state).ServerRemoved(server->second);
    ForgetRefusalsOf(change.name);
    state.servers.erase(server);
  }
  void operator()(const SetPosition& change) const {
    Run& run = Existing(state.runs, change.run, "run");
    if (auto* training = std::get_if<Training>(&run.state)) *training = {change.at, change.since};
  }
  void operator()(const RestartLeases& change) const { state.leases_from = change.from; }
  void operator()(const SetRefusal& change) const {
    state.refusals[change.stage].insert_or_assign(change.server, change.refusal);
  }
  void operator()(const ForgetRefusals& change) const { state.refusals.erase(change.stage); }

  void ForgetRefusalsOf(const std::string& server) const {
    for (auto stage = state.refusals.begin(); stage != state.refusals.end();) {
      stage->second.erase(server);
      stage = stage->second.empty() ? state.refusals.erase(stage) : std::next(stage);
    }
  }

  static SearchPlan NewPlan(PlanId id, const PlanIdentity& identity) {
    SearchPlan plan;
    plan.id = id;
    plan.identity = identity;
    plan.trainer = TrainerDigest(identity.training);
    plan.cost_key = {DigestOf(identity.training), identity.device_kind};
    return plan;
  }

  void ApplyToPlan(SearchPlan& plan, const PlanChange& change) const {
    if (const auto* trained = std::get_if<SetTrainedRange>(&change)) {
      state.index.steps.Touch(state, plan.id, trained->node);
    }
    Apply(plan, change);
  }

  void CountClaims(const SearchPlan& plan, const PlanChange& change) const {
    StepLedger& steps = state.index.steps;
    if (const auto* added = std::get_if<AddClaim>(&change)) {
      steps.ClaimsChanged(state, state.trials.at(added->claim.trial));
    } else if (const auto* settled = std::get_if<SettleClaim>(&change)) {
      steps.ClaimsChanged(state, state.trials.at(plan.claims.at(settled->claim).trial));
    }
  }

  // The sums of the plan's kind of training follow what is stored of the node.
  void TakeMeasurement(const SearchPlan& plan, const SetMeasurement& change) const {
    const PlanNode& node = plan.Node(change.node);
    const auto known = node.results->measurements.find(change.kind);
    const Measurement before = known == node.results->measurements.end() ? Measurement{} : known->second;
    state.costs[plan.cost_key].Replace(change.kind, FeaturesOf(node), before, change.measurement);
  }

  static bool MayBeDone(ClaimState claim) { return claim == ClaimState::kWaiting || claim == ClaimState::kDone; }

  // So many more open promises of the state at the claim's point are awaited for the claim's sake; or, with `sign` -1,
  // no more.
  void Await(const Claim& claim, std::int64_t sign) const {
    const auto open = state.open_states.find(claim.point);
    if (open == state.open_states.end()) return;
    AddAwaited(claim, sign * open->second);
  }

  void CountStateClaim(const Claim& claim, std::int64_t sign) const {
    state.trial_index.at(state.trials.at(claim.trial).study).StateClaimed(claim.trial, sign);
    std::set<ClaimId>& claimed = state.index.states_claimed[claim.trial];
    sign > 0 ? (void)claimed.insert(claim.id) : (void)claimed.erase(claim.id);
    if (claimed.empty()) state.index.states_claimed.erase(claim.trial);
  }

  void AddAwaited(const Claim& claim, std::int64_t count) const {
    const StudyId study = state.trials.at(claim.trial).study;
    if (IsRetired(state, study)) return;
    if ((state.states_awaited[study] += count) == 0) state.states_awaited.erase(study);
  }

  void CountOpen(const Run& run, const Promise& promise, std::int64_t sign) const {
    if (promise.owed != Owed::kState) return;
    const Point point = PointOf(run, promise.step);
    if ((state.open_states[point] += sign) == 0) state.open_states.erase(point);
    const SearchPlan& plan = state.plans.at(run.plan);
    for (const ClaimId id : plan.ClaimsAt(point)) {
      const Claim& claim = plan.claims.at(id);
      if (MayBeDone(claim.state)) AddAwaited(claim, sign);
    }
  }

  static void AddInOrder(std::vector<ClaimId>& claims, const SearchPlan& plan, const Claim& claim) {
    const auto later = [&](Step step, ClaimId other) { return step < plan.claims.at(other).point.step; };
    claims.insert(std::upper_bound(claims.begin(), claims.end(), claim.point.step, later), claim.id);
  }

  // An evaluation that failed within a training pauses the training.
  static StageBeginning BeginningOf(const AttemptKey& key, const Attempts& attempts) {
    const bool only_evaluates = attempts.begun_at.step == key.from;
    return {attempts.begun_at, only_evaluates ? key.evaluation : std::string()};
  }

  void SetPause(const SearchPlan& plan, const SetAttempts& change) const {
    if (const Attempts* before = plan.FindAttempts(change.node, change.key)) {
      const auto pauses = state.pauses.find(BeginningOf(change.key, *before));
      if (pauses != state.pauses.end()) {
        pauses->second.erase(PauseOf(change.node, change.key, *before));
        if (pauses->second.empty()) state.pauses.erase(pauses);
      }
    }
    if (!change.attempts || change.attempts->not_before == Time{}) return;
    const Attempts& attempts = *change.attempts;
    state.pauses[BeginningOf(change.key, attempts)].insert(PauseOf(change.node, change.key, attempts));
  }

  static Pause PauseOf(PlanNodeId node, const AttemptKey& key, const Attempts& attempts) {
    const std::set<std::string>& servers = attempts.servers;
    return {.until = attempts.not_before,
            .avoid = servers.size() == 1 ? *servers.begin() : std::string(),
            .node = node,
            .key = key};
  }
};

template <class... Kinds>
bool IsOneOf(const StateChange& change) {
  return (std::holds_alternative<Kinds>(change) || ...);
}

}  // namespace

bool IsStored(const StateChange& change) {
  return !IsOneOf<SetServer, RemoveServer, SetPosition, SetStopped, PutOffRetirement, PutOffLeaving, ListKept,
                  ForgetRequests, ForgetSome, RestartLeases, WantRoom, AskReference, ForgetAsk, PlaceCheck, EndCheck,
                  SetRefusal, ForgetRefusals, BeginAnalysis, EndAnalysis>(change);
}

void Apply(MasterState& state, const StateChange& change) { std::visit(Applier{state}, change); }

}  // namespace espalier::master
