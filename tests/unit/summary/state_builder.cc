#include "tests/unit/summary/state_builder.h"

#include <cmath>

#include "master/core/calls/new_trial.h"
#include "master/core/calls/study_calls.h"
#include "master/core/calls/trial_edits.h"
#include "searchplan/plan/insert_trial.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {

StateBuilder::StateBuilder(int slot_count) {
  const Schema schema{{{.name = "bs", .type = ValueType::kInteger, .default_value = std::int64_t{32}},
                       {.name = "lr", .type = ValueType::kFloating, .default_value = 0.1}}};
  offer = {.trainer = "mlp",
           .code_digest = "code",
           .data = "digits",
           .data_digest = "data",
           .evaluation_digest = "evaluation",
           .schema = schema,
           .metrics = {"test_acc"}};
  Apply(state, SetServer{{.name = "server",
                          .devices = slot_count == 0 ? std::vector<Device>{}
                                                     : std::vector<Device>{{.name = "cores-0", .slots = slot_count}},
                          .offers = {},
                          .session = SessionId{1}}});
  Offers();
}

void StateBuilder::Offers() {
  Apply(state, AddOffer{{offer, At(static_cast<std::int64_t>(state.offers.size()))}});
  Server server = state.servers.at("server");
  server.offers = {{TrainerDigest(offer), {DigestOf(offer), "cpu"}}};
  Apply(state, SetServer{server});
}

StudyId StateBuilder::AddStudy(Scope scope, std::int64_t created_at, Goal goal) {
  StudySpecification specification{.name = "study", .trainer = "mlp", .data = "digits", .metric = "test_acc"};
  specification.scope = scope;
  specification.goal = goal;
  Study study = PlanStudy(state, specification).value();
  study.id = state.next.study;
  study.team = team;
  study.created_at = At(created_at);
  study.first_run = state.next.run;
  Apply(state, master::AddStudy{study});
  return study.id;
}

TrialId StateBuilder::AddTrial(StudyId study_id, const std::string& lr, std::int64_t horizon, const std::string& bs) {
  const Study& study = state.studies.at(study_id);
  NewTrial trial{.steps = Step{horizon}};
  if (!lr.empty()) trial.sequences["lr"] = lr;
  if (!bs.empty()) trial.sequences["bs"] = bs;
  const TrialId id = state.next.trial;
  const PlanIdentity identity = PlanIdentityOf(study, id);
  if (!state.plan_by_identity.contains(DigestOf(identity))) Apply(state, AddPlan{state.next.plan, identity});
  const PlanId plan = state.plan_by_identity.at(DigestOf(identity));
  const ResolvedTrial resolved = Resolve(study, trial).value();
  const Insertion insertion = InsertTrial(state.plans.at(plan), resolved.segments, state.next.plan_node);
  for (const PlanChange& change : insertion.edit) Apply(state, ChangePlan{plan, change});
  Apply(state, master::AddTrial{{.id = id,
                                 .study = study_id,
                                 .plan = plan,
                                 .leaf = insertion.leaf,
                                 .horizon = Step{horizon},
                                 .sequences = trial.sequences}});
  AddEvent(study_id, TrialSubmitted{id});
  return id;
}

ClaimId StateBuilder::AddClaim(TrialId trial, std::int64_t step) {
  const ClaimId id = state.next.claim;
  Change(trial, espalier::AddClaim{{.id = id, .trial = trial, .point = On(trial, step), .evaluation = "evaluation"}});
  AddEvent(state.trials.at(trial).study, ClaimMade{id, trial, Step{step}});
  return id;
}

void StateBuilder::Settle(ClaimId claim_id, ClaimState claim_state) {
  const PlanId plan = state.plan_by_claim.at(claim_id);
  Apply(state, ChangePlan{plan, SettleClaim{claim_id, claim_state}});
  const Claim& claim = state.plans.at(plan).claims.at(claim_id);
  const Study& study = state.studies.at(state.trials.at(claim.trial).study);
  AddEvent(study.id, ClaimSettled{.claim = claim_id,
                                  .trial = claim.trial,
                                  .step = claim.point.step,
                                  .state = claim_state,
                                  .metrics = AnswerOf(state.plans.at(plan), claim, study.metric_names)});
}

void StateBuilder::Close(TrialId trial, bool cancelled) {
  Apply(state, CloseTrial{trial, cancelled});
  AddEvent(state.trials.at(trial).study, TrialClosed{trial, cancelled});
}

void StateBuilder::AddEvent(StudyId study, StudyEvent event) {
  const auto number = static_cast<std::int64_t>(state.events.at(study).size()) + 1;
  Apply(state, AddStudyEvent{study, number, std::move(event)});
}

void StateBuilder::Finish(ClaimId claim, double accuracy) {
  const PlanId plan = state.plan_by_claim.at(claim);
  const Point point = state.plans.at(plan).claims.at(claim).point;
  Apply(state, ChangePlan{plan, AddMetrics{point, "evaluation", {{"test_acc", accuracy}}}});
  Settle(claim, ClaimState::kDone);
}

void StateBuilder::ClaimedTogether(const std::vector<std::pair<TrialId, std::int64_t>>& claims) {
  std::vector<ClaimId> made;
  for (const auto& [trial, step] : claims) made.push_back(AddClaim(trial, step));
  for (const ClaimId claim : made) Finish(claim, 0.5);
}

void StateBuilder::Claimed(TrialId trial, std::int64_t step, double accuracy) {
  Finish(AddClaim(trial, step), accuracy);
}

RunId StateBuilder::AddRun(std::vector<StudyId> studies, TrialId trial_id, std::int64_t from, std::int64_t to,
                           std::int64_t ordered_at) {
  const Trial& trial = state.trials.at(trial_id);
  const SearchPlan& plan = state.plans.at(trial.plan);
  Run run;
  run.id = state.next.run;
  run.plan = trial.plan;
  run.slot = {"server", 0};
  run.offer = DigestOf(offer);
  run.evaluation = offer.evaluation_digest;
  run.serves = std::move(studies);
  run.ordered_at = run.charged_to = At(ordered_at);
  run.state = Training{Step{from}};
  if (from > 0) run.start = On(trial_id, from);
  std::optional<PlanNodeId> id = trial.leaf;
  for (Step end{to}; id && end > Step{from}; id = plan.Node(*id).parent) {
    const Step begin = std::max(plan.Node(*id).start, Step{from});
    if (begin >= end) continue;
    run.path.insert(run.path.begin(), {*id, begin, end});
    end = begin;
  }
  Apply(state, master::AddRun{run});
  return run.id;
}

void StateBuilder::Promise(RunId run, std::int64_t step, Owed owed, std::int64_t at) {
  Apply(state, MakePromise{run, {.id = state.next.promise, .step = Step{step}, .owed = owed, .made_at = At(at)}});
}

void StateBuilder::SettlePromise(RunId run, std::int64_t step, PromiseState promise, std::int64_t at) {
  const PromiseId id = state.runs.at(run).FindOpen(Step{step}, Owed::kState)->id;
  Apply(state, master::SettlePromise{run, id, promise, At(at)});
}

void StateBuilder::EndRun(RunId id, double slot_seconds) {
  const Run& run = state.runs.at(id);
  std::map<StudyId, std::int64_t> parts;
  for (const StudyId study : run.serves) {
    parts[study] = static_cast<std::int64_t>(slot_seconds * 1e6) / static_cast<std::int64_t>(run.serves.size());
  }
  Apply(state, ChargeRun{id, run.charged_to, parts, run.serves});
  Apply(state, SetRunState{id, Ended{}});
}

void StateBuilder::Train(RunId id, std::int64_t from, std::int64_t to, double step_seconds) {
  const Run run = state.runs.at(id);
  for (const PathStage& stage : run.path) {
    const Step begin = std::max(stage.from, Step{from});
    const Step end = std::min(stage.to, Step{to});
    if (begin >= end) continue;
    const Seconds seconds{step_seconds * static_cast<double>(end - begin)};
    Apply(state, ChangePlan{run.plan, SetTrainedRange{stage.node, {id, begin, end, seconds}}});
    const Measurement took{end - begin, std::llround(seconds.count() * 1e6)};
    const auto& measured = state.plans.at(run.plan).Node(stage.node).results->measurements;
    const auto known = measured.find(CostKind::kStep);
    const Measurement sum = known == measured.end() ? took : Sum(known->second, took);
    Apply(state, ChangePlan{run.plan, SetMeasurement{stage.node, CostKind::kStep, sum}});
  }
}

RunId StateBuilder::Trained(std::vector<StudyId> studies, TrialId trial, std::int64_t from, std::int64_t to,
                            std::int64_t ordered_at, double step_seconds) {
  const RunId run = AddRun(std::move(studies), trial, from, to, ordered_at);
  Train(run, from, to, step_seconds);
  return run;
}

void StateBuilder::StoreCheckpoint(TrialId trial, std::int64_t step, std::int64_t stored_at, std::int64_t bytes) {
  const Checkpoint checkpoint{.file = "file", .bytes = bytes, .run = RunId{1}, .stored_at = At(stored_at)};
  Change(trial, SetCheckpoint{On(trial, step), checkpoint, {"sha" + std::to_string(step)}});
}

void StateBuilder::Change(TrialId trial, PlanChange change) {
  Apply(state, ChangePlan{state.trials.at(trial).plan, std::move(change)});
}

Point StateBuilder::On(TrialId id, std::int64_t step) const {
  const Trial& trial = state.trials.at(id);
  return PointOn(state.plans.at(trial.plan), trial.leaf, Step{step});
}

}  // namespace espalier::master
