#include "tests/support/edit_generator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/digest.h"

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

template <class Map>
typename Map::key_type EditGenerator::AnyKey(const Map& map) {
  return std::next(map.begin(), Below(static_cast<int>(map.size())))->first;
}

void EditGenerator::AddEvent(StudyId study, StudyEvent event) {
  const auto number = static_cast<std::int64_t>(state_.events[study].size()) + 1;
  Do(AddStudyEvent{study, number, std::move(event)});
}

void EditGenerator::Register() {
  Do(SetTrainer{{.name = "trainer" + std::to_string(Below(3)),
                 .code_digest = Text(),
                 .data = Text(),
                 .data_digest = Text(),
                 .evaluation_digest = Text(),
                 .schema = Chance(80) ? SomeSchema() : Schema{.takes_any = Chance(50)},
                 .metrics = {Text(), "loss", Text()}}});
}

void EditGenerator::ChangeUser() {
  User user{.name = "user" + std::to_string(Below(4)), .team = "team" + Text()};
  if (Chance(50)) user.role = Role::kAdministrator;
  if (Chance(20)) user = {.name = "node" + Text(), .team = "", .role = Role::kNode};
  if (Chance(80)) user.token_sha256 = Sha256Hex(std::to_string(random_()));
  Do(SetUser{user});
}

void EditGenerator::NewStudy() {
  Study study{.id = state_.next.study,
              .user = Text(),
              .team = Text(),
              .specification = {.name = Text(),
                                .trainer = Text(),
                                .data = Text(),
                                .step_updates = Below(50),
                                .evaluate_every = Below(5),
                                .metric = Text(),
                                .goal = Chance(50) ? Goal::kMinimize : Goal::kMaximize,
                                .scope = static_cast<Scope>(Below(4)),
                                .definition = Text()},
              .training = {.trainer = "mlp",
                           .code_digest = Text(),
                           .data = "digits",
                           .data_digest = "d",
                           .step_updates = Below(3),
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
  if (Chance(70)) study.metric_names = {"accuracy", Text()};
  Do(AddStudy{study});
  const PlanIdentity identity{study.training, study.device_kind, "study:" + std::to_string(study.id.value)};
  Do(AddPlan{state_.next.plan, identity});
  Do(AddRequest{{Chance(50) ? study.id : StudyId{0}, "request " + std::to_string(++request_) + Text()},
                {DigestOf(Text()), {study.id.value, Below(100)}}});
}

void EditGenerator::NewTrial() {
  const PlanId plan = AnyKey(state_.plans);
  Trial trial{.id = state_.next.trial,
              .study = AnyKey(state_.studies),
              .plan = plan,
              .leaf = {},
              .horizon = {},
              .sequences = {},
              .claims = {}};
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
    const AddPlanNode node{
        .id = state_.next.plan_node, .parent = parent, .start = start, .configuration = configuration};
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

void EditGenerator::MoreClaims() {
  if (state_.trials.empty()) return;
  const Trial& trial = state_.trials.at(AnyKey(state_.trials));
  const Step step{1 + Below(static_cast<int>(trial.horizon.value))};
  const Point point = PointOn(state_.plans.at(trial.plan), trial.leaf, step);
  const Claim claim{.id = state_.next.claim, .trial = trial.id, .point = point, .evaluation = Text()};
  const StudyId study = trial.study;
  Do(ChangePlan{trial.plan, AddClaim{claim}});
  AddEvent(study, ClaimMade{claim.id, claim.trial, step});
}

void EditGenerator::Settle() {
  if (state_.plan_by_claim.empty()) return;
  const PlanId plan = state_.plan_by_claim.at(AnyKey(state_.plan_by_claim));
  if (state_.plans.at(plan).waiting.empty()) return;
  const Claim claim = state_.plans.at(plan).claims.at(*state_.plans.at(plan).waiting.begin());
  const auto settled = static_cast<ClaimState>(1 + Below(3));
  Metrics metrics;
  if (settled == ClaimState::kDone) {
    metrics = SomeMetrics();
    Do(ChangePlan{plan, AddMetrics{claim.point, claim.evaluation, metrics}});
  }
  Do(ChangePlan{plan, SettleClaim{claim.id, settled}});
  AddEvent(state_.trials.at(claim.trial).study,
           ClaimSettled{claim.id, claim.trial, claim.point.step, settled, metrics, Text()});
}

std::optional<Point> EditGenerator::AnyPoint(PlanId& plan) {
  if (state_.plans.empty()) return std::nullopt;
  plan = AnyKey(state_.plans);
  if (state_.plans.at(plan).nodes.empty()) return std::nullopt;
  const PlanNodeId node = AnyKey(state_.plans.at(plan).nodes);
  return Point{node, state_.plans.at(plan).Node(node).start + (1 + Below(3))};
}

void EditGenerator::ChangePoint() {
  PlanId plan;
  const auto point = AnyPoint(plan);
  if (!point) return;
  switch (Below(5)) {
    case 0:
      return Do(ChangePlan{
          plan,
          SetCheckpoint{*point, {"file" + Text(), Below(1 << 30), RunId{Below(9) + 1}, Moment()}, "sha" + Text()}});
    case 1:
      return Do(ChangePlan{plan, DropCheckpoint{*point}});
    case 2:
      return Do(ChangePlan{plan, SetFailure{*point, {static_cast<Failure::Kind>(Below(4)), Text()}}});
    case 3:
      return Do(ChangePlan{plan, SetEvaluationFailure{*point, Text(), Text()}});
    default:
      return Do(ChangePlan{plan, AddMetrics{*point, Text(), SomeMetrics()}});
  }
}

void EditGenerator::ChangeTraining() {
  PlanId plan;
  const auto point = AnyPoint(plan);
  if (!point) return;
  if (Chance(50)) {
    Do(ChangePlan{plan, SetCrashCount{Chance(50) ? *point : Point{point->node, Step{0}}, Below(3)}});
  } else {
    const TrainedRange range{RunId{Below(4) + 1}, point->step - 1, point->step, Seconds{Below(1000) / 7.0}};
    Do(ChangePlan{plan, SetTrainedRange{point->node, range}});
  }
}

void EditGenerator::NewRun() {
  PlanId plan;
  const auto point = AnyPoint(plan);
  if (!point) return;
  Run run{.id = state_.next.run,
          .plan = plan,
          .slot = {Text(), Below(8)},
          .incarnation = Text(),
          .start = {},
          .path = {},
          .studies = {}};
  if (Chance(50)) run.start = *point;
  if (Chance(80))
    run.path = {{point->node, point->step, point->step + 3}, {point->node, point->step + 3, point->step + 9}};
  for (const auto& [id, study] : state_.studies) {
    if (Chance(30)) run.studies.push_back(id);
  }
  run.ordered_at = Moment();
  run.at = run.path.empty() ? (run.start ? run.start->step : Step{0}) : run.path.front().from;
  for (int i = 1; i <= Below(4); ++i) {
    run.promises.push_back({.target = {point->step + i, Chance(50), true}, .made_at = run.ordered_at});
  }
  Do(AddRun{run});
}

void EditGenerator::ChangeRun() {
  if (state_.active_runs.empty()) return;
  const RunId id = *std::next(state_.active_runs.begin(), Below(static_cast<int>(state_.active_runs.size())));
  const Run& run = state_.runs.at(id);
  const std::vector<Target> open = OpenTargets(run);
  switch (Below(5)) {
    case 0:
      return Do(SetPreempt{id, run.generation + 1});
    case 1:
      return Do(SetPosition{id, run.at + 1});
    case 2:
      return Do(SetRunState{id, Chance(50) ? RunState::kSaving : RunState::kEnded, Seconds{Below(999) / 3.0}});
    case 3:
      if (open.empty()) return;
      return Do(SettlePromise{id, open[Below(static_cast<int>(open.size()))].step,
                              static_cast<PromiseState>(1 + Below(3)), Moment()});
    default: {
      std::vector<Target> targets;
      for (int step = 1; step < 7; ++step) {
        if (Chance(50)) targets.push_back({Step{step}, Chance(50), Chance(50)});
      }
      return Do(SetTargets{id, run.generation + 1, targets, Moment()});
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
  }
  if (state_.running_studies.empty() || !Chance(20)) return;
  const StudyId study = *state_.running_studies.begin();
  Do(CloseStudy{study});
  if (!Chance(50)) return;
  AddEvent(study, StudyFinished{});
  Do(FinishStudy{study, Moment()});
}

void EditGenerator::Forget() {
  Do(SetServer{{.name = Text(), .incarnation = Text()}});
  if (Chance(50)) Do(RemoveServer{Text()});
}

StateEdit EditGenerator::Next(int step_count_max) {
  edit_.clear();
  if (state_.studies.empty()) NewStudy();
  const int step_count = 1 + Below(step_count_max);
  for (int i = 0; i < step_count || std::none_of(edit_.begin(), edit_.end(), IsStored); ++i) {
    static constexpr void (EditGenerator::*kSteps[])() = {
        &EditGenerator::Register,       &EditGenerator::NewStudy,    &EditGenerator::NewTrial,
        &EditGenerator::NewTrial,       &EditGenerator::NewTrial,    &EditGenerator::MoreClaims,
        &EditGenerator::Settle,         &EditGenerator::Settle,      &EditGenerator::ChangePoint,
        &EditGenerator::ChangeTraining, &EditGenerator::NewRun,      &EditGenerator::ChangeRun,
        &EditGenerator::ChangeRun,      &EditGenerator::ChangeRun,   &EditGenerator::Close,
        &EditGenerator::Forget,         &EditGenerator::ChangePoint, &EditGenerator::ChangeUser};
    (this->*kSteps[Below(static_cast<int>(std::size(kSteps)))])();
  }
  return std::move(edit_);
}

MasterState StoredPart(MasterState state) {
  state.servers.clear();
  state.leases_from = {};
  for (auto& [id, run] : state.runs) {
    run.at = run.path.empty() ? (run.start ? run.start->step : Step{0}) : run.path.front().from;
  }
  for (auto& [id, plan] : state.plans) {
    for (auto& [node_id, node] : plan.nodes) {
      for (auto& [step, point] : node.points.Mutable()) {
        for (auto& [evaluation, metrics] : point.metrics) ReplaceNan(metrics);
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
