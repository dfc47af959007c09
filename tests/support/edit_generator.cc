#include "tests/support/edit_generator.h"

#include <cmath>
#include <limits>

#include "base/digest.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

Schema SomeSchema() {
  return {{{.name = "dropout", .type = ValueType::kFloating, .default_value = 0.25, .initial = false},
           {.name = "hidden", .type = ValueType::kInteger, .default_value = std::int64_t{64}, .initial = true},
           {.name = "nesterov", .type = ValueType::kBoolean, .default_value = true, .initial = false},
           {.name = "optimizer", .type = ValueType::kText, .default_value = std::string("s\"g\\d"), .initial = false}}};
}

void ReplaceNan(Metrics& metrics) {
  for (auto& [name, value] : metrics) {
    if (std::isnan(value)) value = -987654.321;
  }
}

}  // namespace

void EditGenerator::Do(StateChange change) {
  Apply(state_, change);
  edit_.push_back(std::move(change));
}

int EditGenerator::Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }

std::string EditGenerator::Text() {
  static const std::string kTexts[] = {"",
                                       "plain",
                                       "NULL",
                                       "it's \"quoted\"",
                                       "back\\slash\\",
                                       "{1,2},{\"a\"}",
                                       "n\u00e4chste \u2603 \U0001F332",
                                       "tab\tand\nnewline",
                                       " spaces ",
                                       "$1; DROP TABLE x; --",
                                       std::string(9000, 'x')};
  return kTexts[Below(static_cast<int>(std::size(kTexts)))];
}

double EditGenerator::Number() {
  switch (Below(7)) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return -std::numeric_limits<double>::infinity();
    case 3:
      return std::numeric_limits<double>::denorm_min();
    case 4:
      return std::numeric_limits<double>::max();
    case 5:
      return 0.1 + 0.2;
    default:
      return std::ldexp(static_cast<double>(random_() >> 11), -60);
  }
}

Time EditGenerator::Moment() {
  clock_ += Below(3);  // now and then two things happen in the same microsecond
  return Time{std::chrono::microseconds{1'700'000'000'123'456 + clock_ * 999'983}};
}

Metrics EditGenerator::SomeMetrics() {
  Metrics metrics;
  for (int i = 0; i <= Below(3); ++i) metrics["m" + Text()] = Number();
  return metrics;
}

void EditGenerator::AddEvent(StudyId study, StudyEvent event, bool answered_at_claim) {
  const auto number = static_cast<std::int64_t>(state_.events[study].size()) + 1;
  Do(AddStudyEvent{study, number, std::move(event), Moment(), answered_at_claim});
}

void EditGenerator::Register() {
  Offer offer{.trainer = "trainer" + std::to_string(Below(3)),
              .code_digest = Text(),
              .data = Text(),
              .data_digest = Text(),
              .evaluation_digest = Text(),
              .schema = SomeSchema(),
              .metrics = {Text(), "loss", Text()}};
  if (Chance(20)) offer.schema = Schema{.hyper_parameters = {}, .takes_any = Chance(50)};
  const auto known = state_.offers.find(DigestOf(offer));
  if (known == state_.offers.end()) {
    Do(AddOffer{{offer, Moment(), Chance(70)}});
  } else if (!known->second.listed) {
    Do(ListOffer{known->first});
  }
}

void EditGenerator::NewStudy() {
  Study study{.id = state_.next.study,
              .user = Text(),
              .team = Text(),
              .specification = {.name = Text(),
                                .trainer = Text(),
                                .data = Text(),
                                .step = {Below(50)},
                                .evaluate_every = Below(5),
                                .metric = Text(),
                                .goal = Chance(50) ? Goal::kMinimize : Goal::kMaximize,
                                .scope = static_cast<Scope>(Below(4)),
                                .check = static_cast<CheckWhen>(Below(3)),
                                .definition = Text()},
              .training = {.trainer = "mlp",
                           .code_digest = Text(),
                           .data = "digits",
                           .data_digest = "d",
                           .step = {Below(3)},
                           .schema = SomeSchema()},
              .device_kind = Text(),
              .evaluation = Text(),
              .metric_names = {},
              .created_at = Moment(),
              .finished_at = std::nullopt};
  if (Chance(30)) {
    study.training.schema.takes_any = true;
    study.specification.undeclared = {{"warp" + Text(), ValueType::kFloating}, {"x", ValueType::kText}};
  }
  if (!state_.references.empty() && Chance(50)) study.specification.reference = AnyKey(state_.references);
  const auto some_time = [this] { return Chance(40) ? std::optional(Seconds(0.5 + Below(9000))) : std::nullopt; };
  study.specification.stop = {some_time(), some_time(), Chance(40) ? std::optional(0.1 * Below(100)) : std::nullopt};
  study.specification.policy = {.may_stop = Chance(30), .deadline = some_time(), .min_steps = Below(9)};
  for (std::int64_t slots = 2; Chance(40); ++slots) study.specification.policy.speeds[slots] = 0.5 + Below(9);
  study.specification.priority = 0.5 + Below(9);
  study.specification.hang_after = some_time();
  if (!state_.studies.empty() && Chance(30)) {
    study.specification.reuse = {AnyKey(state_.studies),
                                 Chance(50) ? std::optional(Step{1 + Below(100)}) : std::nullopt};
  }
  if (Chance(70)) study.metric_names = {"accuracy", Text()};
  Do(AddStudy{study});
  const PlanIdentity identity{
      study.training, study.device_kind, {.scope = Scope::kStudy, .team = {}, .study = study.id, .trial = {}}};
  Do(AddPlan{state_.next.plan, identity});
  Do(AddRequest{{Chance(50) ? study.id : StudyId{0}, "request " + std::to_string(++request_) + Text()},
                {DigestOf(Text()), {study.id.value, Below(100)}, Moment()}});
}

void EditGenerator::NewTrial() {
  const StudyId study = AnyStudy();
  if (IsRetired(state_, study)) return;
  const PlanId plan = AnyKey(state_.plans);
  Trial trial{
      .id = state_.next.trial, .study = study, .plan = plan, .leaf = {}, .horizon = {}, .sequences = {}, .claims = {}};
  std::optional<PlanNodeId> parent;
  Step start{0};
  if (Chance(60) && !state_.plans.at(plan).nodes.empty()) {
    parent = AnyKey(state_.plans.at(plan).nodes);
    start = state_.plans.at(plan).Node(*parent).start + (1 + Below(5));
  }
  for (int i = 0; i <= Below(3); ++i) {
    // The size makes every configuration differ from all others: two children never start alike.
    const double unique = static_cast<double>(state_.next.plan_node.value);
    const std::string text = Chance(10) ? std::string(9000, 'y') : Text();
    Configuration configuration{{{Linear{0.1, unique}, start},
                                 {Constant{std::int64_t{32}}, Step{0}},
                                 {Constant{false}, Step{0}},
                                 {Constant{text}, Step{0}}}};
    if (state_.plans.at(plan).identity.training.schema.takes_any && Chance(50)) {
      configuration.functions.push_back({Linear{1, 1}, start});
      configuration.undeclared.push_back("warp" + Text());
    }
    AddPlanNode node{.id = state_.next.plan_node, .parent = parent, .start = start, .configuration = configuration};
    node.caused_by = trial.study;
    if (!parent && Chance(30)) node.origin = SomeOrigin(plan);
    Do(ChangePlan{plan, node});
    parent = node.id;
    trial.leaf = node.id;
    start = start + (1 + Below(4));
  }
  trial.horizon = start + 10;
  for (int i = 0; i < Below(3); ++i) trial.sequences["parameter" + Text()] = Text();
  Do(AddTrial{trial});
  AddEvent(trial.study, TrialSubmitted{trial.id});
  MoreClaims();
}

std::optional<Origin> EditGenerator::SomeOrigin(PlanId for_plan) {
  const PlanId id = AnyKey(state_.plans);
  const SearchPlan& plan = state_.plans.at(id);
  if (id == for_plan || plan.nodes.empty()) return std::nullopt;
  const PlanNode& node = plan.Node(AnyKey(plan.nodes));
  return Origin{.plan = id, .point = {node.id, node.start + (1 + Below(5))}, .lineage = node.lineage};
}

void EditGenerator::MoreClaims() {
  if (state_.trials.empty()) return;
  const Trial& trial = state_.trials.at(AnyKey(state_.trials));
  if (IsRetired(state_, trial.study)) return;
  const Step step{1 + Below(static_cast<int>(trial.horizon.value))};
  const Point point = PointOn(state_.plans.at(trial.plan), trial.leaf, step);
  const bool for_state = Chance(20);
  const Claim claim{.id = state_.next.claim,
                    .trial = trial.id,
                    .point = point,
                    .evaluation = for_state ? std::string(kStateAlone) : Text()};
  const StudyId study = trial.study;
  Do(ChangePlan{trial.plan, AddClaim{claim}});
  if (for_state) return;
  AddEvent(study, ClaimMade{claim.id, claim.trial, step});
}

void EditGenerator::Settle() {
  if (state_.plan_by_claim.empty()) return;
  const PlanId plan = state_.plan_by_claim.at(AnyKey(state_.plan_by_claim));
  if (state_.plans.at(plan).waiting.empty()) return;
  const Claim claim = state_.plans.at(plan).claims.at(*state_.plans.at(plan).waiting.begin());
  auto settled = static_cast<ClaimState>(1 + Below(3));
  Metrics answer;
  bool answered_at_claim = false;
  if (settled == ClaimState::kDone) {
    const Point at = AnsweredAt(state_.plans.at(plan), claim.point);
    const auto failing = FailingPoint(state_.plans.at(plan), at);
    if (failing && !IsResult(*state_.plans.at(plan).FindFailure(*failing))) {
      settled = ClaimState::kFailed;
    } else if (failing) {
      answer = SomeMetrics();  // of nowhere
    } else {
      Do(ChangePlan{plan, AddMetrics{at, claim.evaluation, SomeMetrics()}});
      answer = *state_.plans.at(plan).FindMetrics(at, claim.evaluation);
      answered_at_claim = at == claim.point;
    }
  }
  Do(ChangePlan{plan, SettleClaim{claim.id, settled}});
  if (IsForStateAlone(claim)) return;
  AddEvent(state_.trials.at(claim.trial).study,
           ClaimSettled{claim.id, claim.trial, claim.point.step, settled, answer, Text()}, answered_at_claim);
}

std::optional<Point> EditGenerator::AnyPoint(PlanId& plan) {
  if (state_.plans.empty()) return std::nullopt;
  plan = AnyKey(state_.plans);
  if (state_.plans.at(plan).nodes.empty()) return std::nullopt;
  const PlanNodeId node = AnyKey(state_.plans.at(plan).nodes);
  return Point{node, std::max(state_.plans.at(plan).Node(node).start + 1, Begins(plan, node)) + Below(3)};
}

// Nothing is known before.
Step EditGenerator::Begins(PlanId plan, PlanNodeId node) const {
  const Origin* origin = OriginOf(state_.plans.at(plan), node);
  return origin == nullptr ? Step{0} : origin->point.step;
}

void EditGenerator::ChangePoint() {
  PlanId plan;
  const auto point = AnyPoint(plan);
  if (!point) return;
  switch (Below(7)) {
    case 0:
    case 1:
      return Do(ChangePlan{plan, SetCheckpoint{*point,
                                               {"file" + Text(), Below(1 << 30), RunId{Below(9) + 1}, Moment()},
                                               {"sha" + Text(), Chance(20)}}});
    case 2: {
      const Checkpoint* stands = state_.plans.at(plan).FindCheckpoint(*point);
      const bool other = stands == nullptr || Chance(30);
      return Do(ChangePlan{plan, DropCheckpoint{*point, other ? "another" : stands->file}});
    }
    case 3:
      if (const Failure* failure = state_.plans.at(plan).FindFailure(*point)) {
        if (!IsResult(*failure)) Do(ChangePlan{plan, SetFailure{*point, std::nullopt}});
        return;
      }
      for (const PlanChange& change :
           RecordFailure(state_.plans.at(plan), *point, {static_cast<Failure::Kind>(Below(5)), Text()})) {
        Do(ChangePlan{plan, change});
      }
      return;
    case 4: {
      const std::string evaluation = Text();
      const bool clear = state_.plans.at(plan).FindEvaluationFailure(*point, evaluation) != nullptr;
      return Do(
          ChangePlan{plan, SetEvaluationFailure{*point, evaluation, clear ? std::nullopt : std::optional(Text())}});
    }
    default:
      return Do(ChangePlan{plan, AddMetrics{*point, Text(), SomeMetrics()}});
  }
}

void EditGenerator::ChangeTraining() {
  PlanId plan;
  const auto point = AnyPoint(plan);
  if (!point) return;
  if (Chance(50)) return ChangeAttempts(plan, *point);
  if (Chance(50)) {
    const std::int64_t units = 1 + Below(100);
    return Do(ChangePlan{plan, SetMeasurement{point->node, static_cast<CostKind>(Below(7)), {units, Below(1 << 30)}}});
  }
  Train();
}

// Where the run's path leads, and nowhere else: what it trained is looked for there alone.
void EditGenerator::Train() {
  if (state_.active_runs.empty()) return;
  const Run& run = AnyActiveRun();
  if (run.path.empty()) return;
  const PathStage& stage = run.path[static_cast<std::size_t>(Below(static_cast<int>(run.path.size())))];
  const Step from = stage.from + Below(static_cast<int>(stage.to - stage.from));
  Do(ChangePlan{run.plan, SetTrainedRange{stage.node, {run.id, from, from + 1, Seconds{Below(1000) / 7.0}}}});
}

void EditGenerator::ChangeAttempts(PlanId plan, Point point) {
  const AttemptKey key{Step{Below(4)}, Chance(70) ? std::string() : Text()};
  if (state_.plans.at(plan).FindAttempts(point.node, key) != nullptr && Chance(30)) {
    return Do(ChangePlan{plan, SetAttempts{point.node, key, std::nullopt}});
  }
  Attempts attempts{.crashes = Below(4),
                    .kills = Below(11),
                    .unusable = Below(4),
                    .lost_servers = {},
                    .earliest = point.step,
                    .servers = {}};
  for (int i = Below(3); i > 0; --i) attempts.servers.insert(Text());
  for (int i = Below(3); i > 0; --i) attempts.lost_servers.insert(Text());
  attempts.begun_at = {point.node, Step{Below(9)}};
  if (Chance(70)) attempts.not_before = Chance(20) ? Time::max() : Moment();
  attempts.log = Text();
  if (Chance(50)) attempts.demand = {Below(2000), Below(100)};
  Do(ChangePlan{plan, SetAttempts{point.node, key, std::move(attempts)}});
}

std::vector<StudyId> EditGenerator::SomeStudies() {
  std::vector<StudyId> studies;
  for (const auto& [id, study] : state_.studies) {
    if (Chance(30) && !IsRetired(state_, id)) studies.push_back(id);
  }
  return studies;
}

void EditGenerator::NewRun() {
  PlanId plan;
  const auto point = AnyPoint(plan);
  if (!point || state_.offers.empty()) return;
  Run run;
  run.id = state_.next.run;
  run.leadership = LeadershipId{1 + Below(1 << 30)};
  run.plan = plan;
  run.slot = {Text(), Below(8)};
  run.slots = 1 + Below(3);
  run.reservation = {
      .device = Below(3), .compute = 1 + Below(1000), .memory_bytes = Below(100), .host_cores = Below(9)};
  run.incarnation = Text();
  run.offer = AnyKey(state_.offers);
  run.evaluation = state_.offers.at(run.offer).offer.evaluation_digest;
  if (Chance(50)) {
    run.start = *point;
    run.start_file = Text();
  }
  if (!run.start || Chance(80)) {
    run.path = {{point->node, point->step, point->step + 3}, {point->node, point->step + 3, point->step + 9}};
  }
  run.ordered_at = run.charged_to = Moment();
  run.state = Training{BeginningOf(run).step};
  run.serves = SomeStudies();
  PromiseId next = state_.next.promise;
  for (int i = run.path.empty() ? 0 : Below(4); i > 0; --i) {
    const Owed owed = Chance(50) ? Owed::kState : Owed::kMetrics;
    run.promises[next] = {.id = next, .step = point->step + i, .owed = owed, .made_at = run.ordered_at};
    ++next.value;
  }
  Do(AddRun{run});
}

void EditGenerator::ChangeRun() {
  if (state_.active_runs.empty()) return;
  const Run& run = AnyActiveRun();
  const RunId id = run.id;
  switch (Below(8)) {
    case 0:
      return Do(SetTerms{id, run.generation + 1, Chance(50)});
    case 1:
      return Do(SetPosition{id, run.at() + 1});
    case 2:
      return Do(SetRunState{id, Chance(50) || run.HasOpenPromise() ? RunState(Saving{}) : RunState(Ended{})});
    case 3:
      return Do(SetRunFailed{id});
    case 4: {
      std::map<StudyId, std::int64_t> parts;
      for (const StudyId study : run.serves) parts[study] = Below(1'000'000);
      return Do(ChargeRun{id, Moment(), std::move(parts), SomeStudies()});
    }
    case 5:
    case 6:
      for (const auto& [promise_id, promise] : run.promises) {
        if (promise.state != PromiseState::kOpen || Chance(50)) continue;
        return Do(SettlePromise{id, promise_id, static_cast<PromiseState>(1 + Below(3)), Moment()});
      }
      return;
    default: {
      if (run.path.empty()) return;
      const Promise promise{.id = state_.next.promise,
                            .step = run.path.front().from + (1 + Below(9)),
                            .owed = Chance(50) ? Owed::kState : Owed::kMetrics,
                            .made_at = Moment()};
      if (run.FindOpen(promise.step, promise.owed) == nullptr) Do(MakePromise{id, promise});
    }
  }
}

void EditGenerator::Close() {
  if (!state_.trials.empty()) {
    const Trial& trial = state_.trials.at(AnyKey(state_.trials));
    if (!trial.closed) {
      const StudyId study = trial.study;
      const CloseTrial change{trial.id, Chance(30)};
      Do(change);
      AddEvent(study, TrialClosed{change.trial, change.cancelled});
    }
    const TrialId any = AnyKey(state_.trials);
    if (Chance(50) && !IsRetired(state_, state_.trials.at(any).study))
      Do(SetLabel{any, {.policy = Text(), .text = Text()}});
  }
  if (state_.running_studies.empty() || !Chance(20)) return;
  const StudyId study = *state_.running_studies.begin();
  Do(SetKeep{study, static_cast<Keep>(Below(4))});
  Do(SetWeight{.team = {}, .study = study, .weight = 0.25 * static_cast<double>(1 + Below(9))});
  Do(CloseStudy{study, Chance(30), Chance(30) ? Text() : ""});
  if (!Chance(50)) return;
  AddEvent(study, StudyFinished{});
  Do(FinishStudy{study, Moment()});
}

StudyId EditGenerator::AnyStudy() { return AnyKey(state_.studies); }

const Run& EditGenerator::AnyActiveRun() {
  return state_.runs.at(*std::next(state_.active_runs.begin(), Below(static_cast<int>(state_.active_runs.size()))));
}

void EditGenerator::Forget() {
  Do(SetServer{{.name = Text(), .incarnation = Text()}});
  if (Chance(50)) Do(RemoveServer{Text()});
}

StateEdit EditGenerator::Next(int step_count_max) {
  edit_.clear();
  if (state_.studies.empty()) NewStudy();
  for (int left = 1 + Below(step_count_max); left > 0 || std::ranges::none_of(edit_, IsStored); --left) {
    static constexpr void (EditGenerator::*kSteps[])() = {
        &EditGenerator::Register,       &EditGenerator::NewStudy,    &EditGenerator::NewTrial,
        &EditGenerator::NewTrial,       &EditGenerator::NewTrial,    &EditGenerator::MoreClaims,
        &EditGenerator::Settle,         &EditGenerator::Settle,      &EditGenerator::ChangePoint,
        &EditGenerator::ChangeTraining, &EditGenerator::NewRun,      &EditGenerator::ChangeRun,
        &EditGenerator::ChangeRun,      &EditGenerator::ChangeRun,   &EditGenerator::Close,
        &EditGenerator::Forget,         &EditGenerator::ChangePoint, &EditGenerator::ChangeUser,
        &EditGenerator::BringCode,      &EditGenerator::ChangeDrain, &EditGenerator::ChoosePolicy,
        &EditGenerator::ChangeDue,      &EditGenerator::Retire,      &EditGenerator::PinRetired};
    (this->*kSteps[Below(static_cast<int>(std::size(kSteps)))])();
  }
  return std::move(edit_);
}

StudyHistory StoredPart(StudyHistory history) {
  for (StudyEvent& event : history.events) {
    if (auto* settled = std::get_if<ClaimSettled>(&event)) ReplaceNan(settled->metrics);
  }
  return history;
}

MasterState StoredPart(MasterState state) {
  state.servers.clear();
  state.leases_from = {};
  state.leadership = {};
  // Runs leave only when the day of their last charge is over; here, at any time.
  for (auto& [party, usage] : state.usage) {
    if (state.retired.empty()) break;
    usage.day = {};
    usage.device_time = 0;
  }
  std::erase_if(state.usage, [](const auto& item) { return item.second == Usage{}; });
  for (auto& [id, run] : state.runs) {
    if (auto* training = std::get_if<Training>(&run.state)) training->at = BeginningOf(run).step;
  }
  for (auto& [id, plan] : state.plans) {
    for (auto& [node_id, node] : plan.nodes) {
      for (auto& [step, by_evaluation] : node.results.Mutable().metrics) {
        for (auto& [evaluation, metrics] : by_evaluation) ReplaceNan(metrics);
      }
    }
  }
  for (auto& [id, events] : state.events) {
    for (StudyEvent& event : events) {
      if (auto* settled = std::get_if<ClaimSettled>(&event)) ReplaceNan(settled->metrics);
    }
  }
  return state;
}

}  // namespace espalier::master
