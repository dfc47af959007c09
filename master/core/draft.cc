#include "master/core/draft.h"

#include "master/core/state/cache_keeper.h"
#include "master/core/state/index_keeper.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

// What one change touches. Every kind of change is named: a new one must say what it touches.
struct Noter {
  const MasterState& state;
  Touched& touched;

  void Plan(PlanId plan) const { touched.plans.insert(plan); }
  void Settle(PlanId plan, Point point) const { touched.points_to_settle[plan].insert(point); }
  void RunOf(RunId id) const {
    const Run& run = state.runs.at(id);
    Plan(run.plan);
    touched.servers.insert(run.slot.server);
  }

  // What they should offer changes.
  void AllServers() const {
    for (const auto& [name, server] : state.servers) touched.servers.insert(name);
  }

  void operator()(const AddOffer&) const {}
  void operator()(const ListOffer&) const {}
  void operator()(const AddStudy& change) const {
    if (change.study.specification.reference) AllServers();
  }
  void operator()(const CloseStudy& change) const { touched.studies.insert(change.study); }
  void operator()(const SetKeep&) const {}
  void operator()(const FinishStudy& change) const {
    touched.for_policy.emplace_back(StudyEnded{change.study});
    if (state.studies.at(change.study).specification.reference) AllServers();
  }
  void operator()(const RetireStudy&) const {}
  void operator()(const RetireRuns&) const {}
  void operator()(const PutOffRetirement&) const {}
  void operator()(const PutOffLeaving&) const {}
  void operator()(const ListKept&) const {}
  void operator()(const ForgetRequests&) const {}
  void operator()(const ForgetSome&) const {}
  void operator()(const AddPlan&) const {}
  void operator()(const ChangePlan& change) const { std::visit(OfPlan{*this, change.plan}, change.change); }
  void operator()(const AddTrial& change) const { Plan(change.trial.plan); }
  void operator()(const CloseTrial& change) const {
    const Trial& trial = state.trials.at(change.trial);
    Plan(trial.plan);
    touched.studies.insert(trial.study);
  }
  void operator()(const AddStudyEvent&) const {}
  void operator()(const AddTrainingMetrics& change) const {
    touched.for_policy.emplace_back(Trained{change.run, change.node, change.series});
  }
  void operator()(const AddRun& change) const {
    Plan(change.run.plan);
    touched.servers.insert(change.run.slot.server);
    touched.for_policy.emplace_back(RunBegan{change.run.id});
  }
  void operator()(const MakePromise& change) const { RunOf(change.run); }
  void operator()(const SettlePromise& change) const {
    RunOf(change.run);
    const Run& run = state.runs.at(change.run);
    const SearchPlan& plan = state.plans.at(run.plan);
    const Promise& promise = run.promises.at(change.promise);
    const Point point = PointOf(run, promise.step);
    for (const ClaimId claim : plan.ClaimsAt(point)) {
      touched.studies.insert(state.trials.at(plan.claims.at(claim).trial).study);
    }
    const bool lost = promise.owed == Owed::kState && change.state == PromiseState::kLost;
    if (lost) touched.lost_states[run.plan].insert(point);
  }
  void operator()(const SetTerms& change) const { RunOf(change.run); }
  void operator()(const SetRunFailed&) const {}
  void operator()(const ChargeRun&) const {}
  void operator()(const SetRunState& change) const {
    RunOf(change.run);
    if (!std::holds_alternative<Training>(change.state)) touched.for_policy.emplace_back(RunStopped{change.run});
  }
  void operator()(const AddRequest&) const {}
  void operator()(const SetUser&) const {}
  void operator()(const AddArchive&) const {}
  void operator()(const DropArchive&) const {}
  void operator()(const AddReference&) const {}
  void operator()(const AskReference&) const { AllServers(); }
  void operator()(const ForgetAsk&) const { AllServers(); }
  void operator()(const BeginAnalysis&) const {}
  void operator()(const EndAnalysis&) const {}
  void operator()(const AddCheckFinding&) const {}
  void operator()(const PlaceCheck& change) const { touched.servers.insert(change.place.slot.server); }
  void operator()(const EndCheck& change) const { touched.servers.insert(state.checks.at(change.key).slot.server); }
  void operator()(const SetWeight&) const {}
  void operator()(const SetQuota&) const {}
  void operator()(const WantRoom&) const {}
  void operator()(const SetStopped&) const {}
  void operator()(const SetDrain& change) const {
    touched.servers.insert(change.server);
    touched.for_policy.emplace_back(ServersChanged{});
  }
  void operator()(const SetPolicy&) const {}
  void operator()(const SetLabel&) const {}
  void operator()(const SetServer& change) const {
    const auto before = state.servers.find(change.server.name);
    const Server& server = change.server;
    if (before != state.servers.end() && before->second.session == server.session &&
        before->second.offers == server.offers && before->second.stopping == server.stopping) {
      return;
    }
    touched.for_policy.emplace_back(ServersChanged{});
  }
  void operator()(const RemoveServer&) const { touched.for_policy.emplace_back(ServersChanged{}); }
  void operator()(const SetPosition&) const {}
  void operator()(const RestartLeases&) const {}
  void operator()(const SetRefusal&) const {}
  void operator()(const ForgetRefusals&) const {}

  struct OfPlan {
    const Noter& noter;
    PlanId plan;

    void operator()(const AddPlanNode&) const {}
    void operator()(const AddClaim& change) const {
      noter.Settle(plan, WaitsAt(noter.state.plans.at(plan), change.claim));
      if (!IsForStateAlone(change.claim)) noter.touched.for_policy.emplace_back(TrialClaimed{change.claim.trial});
      noter.Plan(plan);
    }
    void operator()(const SettleClaim& change) const {
      const Claim& claim = noter.state.plans.at(plan).claims.at(change.claim);
      noter.touched.studies.insert(noter.state.trials.at(claim.trial).study);
      noter.Plan(plan);
    }
    void operator()(const AddMetrics& change) const {
      noter.touched.for_policy.emplace_back(MetricsCame{plan, change.point});
      noter.Settle(plan, change.point);
      noter.Plan(plan);
    }
    void operator()(const SetCheckpoint& change) const {
      noter.Settle(plan, change.point);
      noter.Plan(plan);
    }
    void operator()(const DropCheckpoint&) const { noter.Plan(plan); }
    void operator()(const SetFailure& change) const {
      if (change.failure) {
        noter.touched.failed_points[plan].insert(change.point);
        // Of a training that was finished, those beyond will wait at its last step.
        const bool is_finished = change.failure->kind == Failure::Kind::kFinished;
        const SearchPlan& before = noter.state.plans.at(plan);
        if (is_finished)
          noter.Settle(plan, AnsweredAt(before, PointOn(before, change.point.node, change.point.step - 1)));
      }
      noter.Plan(plan);
    }
    void operator()(const SetEvaluationFailure& change) const {
      if (change.message) noter.Settle(plan, change.point);
      noter.Plan(plan);
    }
    void operator()(const SetAttempts&) const { noter.Plan(plan); }
    void operator()(const SetTrainedRange&) const {}
    void operator()(const SetMeasurement&) const {}
  };
};

}  // namespace

std::vector<ReadyWork> Draft::TakeWorkChanged() {
  std::vector<ReadyWork> changed;
  for (const PlanId plan : std::exchange(state_.index.work_changed, {})) {
    for (const StageAt& stage : state_.index.needs.at(plan).TakeWorkChanged()) {
      changed.push_back({plan, stage.source, stage.first});
    }
  }
  return changed;
}

void Draft::TouchAll() {
  IndexKeeper(state_).ForgetWorkChanged();
  for (const auto& [id, plan] : state_.plans) {
    if (!plan.waiting.empty()) touched.plans.insert(id);
  }
  for (const RunId run : state_.active_runs) touched.plans.insert(state_.runs.at(run).plan);
  touched.studies.insert(state_.running_studies.begin(), state_.running_studies.end());
}

void Draft::Note(const StateChange& change) { std::visit(Noter{state_, touched}, change); }

void Draft::ValueCheckpoint(PlanId plan, Point point) { CacheKeeper(state_).Value(plan, point); }

}  // namespace espalier::master
