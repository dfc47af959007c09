#include "tests/support/toy_cluster.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "master/core/views/trial_state.h"
#include "searchplan/plan/invariants.h"
#include "tests/support/need_oracle.h"
#include "tests/support/step_audit.h"

namespace espalier::master {
namespace {

constexpr char kEvaluation[] = "toy-evaluation";

Offer ToyOffer() {
  return {.trainer = "toy",
          .code_digest = "toy-1",
          .data = "",
          .data_digest = "none",
          .evaluation_digest = kEvaluation,
          .schema = {{{"bs", ValueType::kInteger, Value{std::int64_t{32}}, false},
                      {"lr", ValueType::kFloating, Value{0.1}, false},
                      {"seed", ValueType::kInteger, Value{std::int64_t{1}}, true}}},
          .metrics = {"score"}};
}

const OrderedStage* StageReaching(const Order& order, Step step) {
  for (const OrderedStage& stage : order.path) {
    if (step > stage.stage.from && step <= stage.stage.to) return &stage;
  }
  return nullptr;
}

Point PointAt(const Order& order, Step step) {
  if (const OrderedStage* stage = StageReaching(order, step)) return {stage->stage.node, step};
  return order.start->point;
}

Digest128 LineageAt(const Order& order, Step step) {
  if (const OrderedStage* stage = StageReaching(order, step)) return stage->lineage;
  return order.start->lineage;
}

Step StartOf(const Order& order) { return order.start ? order.start->point.step : Step{0}; }

// Depends on the point alone: whoever trains it gets the same.
double ScoreAt(Point point) {
  return static_cast<double>(point.node.value) + 1e-3 * static_cast<double>(point.step.value);
}

}  // namespace

ToyCluster::ToyCluster(std::uint64_t seed, int node_count, int slots) : random_(seed) {
  state.leadership = LeadershipId{77};
  for (int i = 0; i < node_count; ++i) nodes.push_back({.name = "node-" + std::to_string(i), .slot_count = slots});
  for (ToyNode& node : nodes) Connect(node);
}

std::uint64_t ToyCluster::Draw(std::uint64_t below) { return random_() % below; }

void ToyCluster::Handle(const Event& event) {
  now_ += std::chrono::milliseconds(1);
  Transition transition = React(state, event, *policy, settings_, now_);
  std::copy_if(transition.edit.begin(), transition.edit.end(), std::back_inserter(stored_), IsStored);
  for (const auto& [id, plan] : state.plans) {
    const std::vector<std::string> broken = CheckInvariants(plan);
    INFO((broken.empty() ? "" : broken.front()));
    REQUIRE(broken.empty());
  }
  CheckNeeds();
  for (const Effect& effect : transition.effects) {
    if (const auto* reply = std::get_if<Reply>(&effect)) last_reply = *reply;
    if (const auto* added = std::get_if<EventsAdded>(&effect)) Hear(*added);
    if (const auto* line = std::get_if<LogLine>(&effect)) log.push_back(Print(*line));
    if (const auto* send = std::get_if<SendOrders>(&effect)) {
      for (ToyNode& node : nodes) {
        if (node.session == send->session) node.inbox.push_back(send->orders);
      }
    }
  }
  for (const auto& [study, events] : state.events) REQUIRE(heard_[study].size() == events.size());
}

// The index of needs says what its oracles say from scratch.
void ToyCluster::CheckNeeds() const {
  for (const auto& [id, plan] : state.plans) {
    const auto needs = state.index.needs.find(id);
    if (needs == state.index.needs.end()) continue;
    std::vector<RunView> views;
    for (const RunId run : state.active_runs) {
      if (state.runs.at(run).plan == id) views.push_back(ViewOf(state.runs.at(run)));
    }
    REQUIRE(WorkOf(needs->second, plan) == WorkOf(BuildStageTree(plan, views)));
    const std::vector<std::string> wrong = WrongPromises(plan, views);
    INFO((wrong.empty() ? "" : wrong.front() + "\n" + Describe()));
    REQUIRE(wrong.empty());
  }
  for (const auto& [id, study] : state.studies) {
    StepTotals totals = state.index.steps.Of(id);
    totals.claimed_time = totals.unique_time = 0;
    REQUIRE((totals == TotalsFromScratch(state, id)));
    std::map<std::string, std::int64_t> states;
    for (const TrialId trial : state.trials_by_study.at(id)) ++states[TrialState(state, state.trials.at(trial))];
    REQUIRE(CountTrialStates(state, id) == states);
  }
}

void ToyCluster::Call(decltype(ClientCall::what) what, const std::string& request_id) {
  const std::string id = request_id.empty() ? "request-" + std::to_string(next_request_++) : request_id;
  Handle(ClientCall{.call = CallId{1}, .caller = kAnn, .request_id = id, .what = std::move(what)});
}

void ToyCluster::Hear(const EventsAdded& added) {
  std::vector<StudyEvent>& heard = heard_[added.study];
  REQUIRE(added.first == static_cast<std::int64_t>(heard.size()) + 1);
  heard.insert(heard.end(), added.events.begin(), added.events.end());
  const std::vector<StudyEvent>& stored = state.events.at(added.study);
  REQUIRE(std::equal(heard.begin() + (added.first - 1), heard.end(), stored.begin() + (added.first - 1), stored.end()));
}

StudyId ToyCluster::CreateStudy(const std::string& name, Scope scope) {
  const StudySpecification specification{.name = name, .trainer = "toy", .metric = "score", .scope = scope};
  Call(master::CreateStudy{specification}, "create-" + name);
  return std::get<StudyCreated>(last_reply.answer).study;
}

TrialId ToyCluster::Submit(StudyId study, std::map<std::string, std::string> sequences, std::int64_t steps,
                           std::int64_t horizon) {
  Call(SubmitBatch{.study = study, .new_trials = {{std::move(sequences), Step{steps}, Step{horizon}}}});
  return std::get<Submitted>(last_reply.answer).trials.at(0);
}

void ToyCluster::Claim(TrialId trial, std::int64_t steps) {
  Call(SubmitBatch{.study = state.trials.at(trial).study, .claims = {{trial, Step{steps}}}});
}

void ToyCluster::Cancel(TrialId trial) { Call(SubmitBatch{.study = state.trials.at(trial).study, .cancel = {trial}}); }

void ToyCluster::Finish(StudyId study) { Call(SubmitBatch{.study = study, .finish = true}); }

void ToyCluster::Connect(ToyNode& node) {
  node.session = SessionId{next_session_++};
  node.inbox.clear();
  NodeMessage message{.session = node.session};
  message.registration = Registration{.server = node.name,
                                      .incarnation = std::to_string(node.incarnation),
                                      .slot_count = node.slot_count,
                                      .device_kind = "toy",
                                      .offers = {ToyOffer()}};
  message.reports = node.unacknowledged;
  Handle(message);
}

void ToyCluster::Tell(ToyNode& node, RunKey run, ReportKind kind) {
  node.unacknowledged.push_back({node.next_report++, run, std::move(kind)});
}

void ToyCluster::TakeOrders(ToyNode& node, const ServerOrders& orders) {
  std::erase_if(node.unacknowledged, [&](const Report& report) { return report.number <= orders.acknowledged_report; });
  std::set<RunId> ordered;
  for (const Order& order : orders.orders) {
    ordered.insert(order.run.run);
    if (node.ended.contains(order.run.run)) continue;
    const auto known = node.runs.find(order.run.run);
    if (known == node.runs.end()) {
      node.runs.emplace(order.run.run, ToyRun{order, StartOf(order), order.terms.promises});
    } else if (order.terms.generation > known->second.order.terms.generation) {
      TakeTerms(node, known->second, order);
    }
  }
  std::vector<RunId> gone;
  for (const auto& [id, run] : node.runs) {
    if (!ordered.contains(id)) gone.push_back(id);
  }
  for (const RunId id : gone) node.runs.erase(id);
}

void ToyCluster::TakeTerms(ToyNode& node, ToyRun& run, const Order& order) {
  run.order = order;
  run.open.clear();
  for (const OrderedPromise& promise : order.terms.promises) {
    if (promise.step >= run.at) {
      run.open.push_back(promise);
    } else {
      Lose(node, run, promise, "the runner was past it");
    }
  }
}

// Not if it is on its way, or is reported already.
void ToyCluster::Lose(ToyNode& node, const ToyRun& run, const OrderedPromise& promise, const std::string& why) {
  const Point point = PointAt(run.order, promise.step);
  const bool on_its_way = std::any_of(node.uploads.begin(), node.uploads.end(), [&](const ToyUpload& upload) {
    return upload.run == run.order.run && upload.stored.point == point;
  });
  const bool reported = std::any_of(node.unacknowledged.begin(), node.unacknowledged.end(), [&](const Report& report) {
    const auto* state_stored = std::get_if<StateStored>(&report.kind);
    const auto* measured = std::get_if<MetricsMeasured>(&report.kind);
    const bool is_state = state_stored != nullptr && state_stored->point == point;
    const bool is_metrics = measured != nullptr && measured->point == point;
    return report.run == run.order.run && (promise.owed == Owed::kState ? is_state : is_metrics);
  });
  if (promise.owed == Owed::kState && on_its_way) return;
  if (!reported) Tell(node, run.order.run, PromiseLost{promise.id, promise.step, why});
}

void ToyCluster::End(ToyNode& node, RunId id) {
  const ToyRun& run = node.runs.at(id);
  RunEnded ended{.step = run.at, .slot_time = Seconds(1), .saves_under_way = {}, .refused = {}};
  for (const ToyUpload& upload : node.uploads) {
    if (upload.run == run.order.run) ended.saves_under_way.push_back(upload.stored.point.step);
  }
  Tell(node, run.order.run, std::move(ended));
  node.ended.insert(id);
  node.runs.erase(id);
}

void ToyCluster::Save(ToyNode& node, const ToyRun& run) {
  const Point point = PointAt(run.order, run.at);
  const std::string name = std::to_string(point.node.value) + "@" + std::to_string(point.step.value);
  StateStored stored{.plan = run.order.plan,
                     .point = point,
                     .lineage = LineageAt(run.order, run.at),
                     .file = name + "-" + std::to_string(run.order.run.run.value),
                     .bytes = 100,
                     .state_sha256 = name};
  const int turns = static_cast<int>(Draw(static_cast<std::uint64_t>(upload_turns_max) + 1));
  node.uploads.push_back({std::move(stored), run.order.run, turns});
}

void ToyCluster::Upload(ToyNode& node) {
  for (ToyUpload& upload : node.uploads) {
    if (--upload.turns_left < 0) Tell(node, upload.run, upload.stored);
  }
  std::erase_if(node.uploads, [](const ToyUpload& upload) { return upload.turns_left < 0; });
}

void ToyCluster::KeepPromises(ToyNode& node, ToyRun& run) {
  for (const OrderedPromise& promise : run.open) {
    if (promise.step != run.at) continue;
    const Point point = PointAt(run.order, run.at);
    if (promise.owed == Owed::kMetrics) {
      Tell(node, run.order.run,
           MetricsMeasured{
               run.order.plan, point, LineageAt(run.order, run.at), kEvaluation, {{"score", ScoreAt(point)}}});
    } else {
      Save(node, run);
    }
  }
  std::erase_if(run.open, [&](const OrderedPromise& promise) { return promise.step <= run.at; });
}

// False: the run has ended.
bool ToyCluster::TrainStep(ToyNode& node, ToyRun& run) {
  KeepPromises(node, run);
  const bool preempted = run.order.terms.preempt;
  if (preempted && run.at > StartOf(run.order)) Save(node, run);
  if (run.open.empty() || preempted) return false;
  run.at = run.at + 1;
  const OrderedStage* stage = StageReaching(run.order, run.at);
  REQUIRE(stage != nullptr);
  ++trained[{stage->stage.node, run.at}];
  ++steps_trained;
  Tell(node, run.order.run, StepsTrained{stage->stage.node, run.at - 1, run.at, Seconds(1)});
  return true;
}

void ToyCluster::Train(ToyNode& node) {
  std::vector<RunId> ids;
  for (const auto& [id, run] : node.runs) ids.push_back(id);
  for (const RunId id : ids) {
    if (!TrainStep(node, node.runs.at(id))) End(node, id);
  }
  Upload(node);
}

void ToyCluster::Send(ToyNode& node) {
  NodeMessage message{.session = node.session, .registration = {}, .runs = {}, .reports = node.unacknowledged};
  for (const auto& [id, run] : node.runs) {
    message.runs.push_back({run.order.run, run.order.terms.generation, run.at, RunStatus::State::kTraining});
  }
  Handle(message);
}

void ToyCluster::Turn(int latency) {
  for (ToyNode& node : nodes) {
    if (!node.inbox.empty() && Draw(static_cast<std::uint64_t>(latency)) == 0) {
      const ServerOrders orders = node.inbox.back();  // level-triggered: the newest says all
      node.inbox.clear();
      TakeOrders(node, orders);
    }
    Train(node);
    if (Draw(static_cast<std::uint64_t>(latency)) == 0) Send(node);
  }
  now_ += std::chrono::milliseconds(20);
  Handle(Tick{});
}

void ToyCluster::RunToRest(int latency) {
  const auto waits = [&] {
    return std::any_of(state.plans.begin(), state.plans.end(),
                       [](const auto& entry) { return !entry.second.waiting.empty(); });
  };
  for (int turn = 0; waits(); ++turn) {
    INFO(Describe());
    REQUIRE(turn < 100'000);
    Turn(latency);
  }
}

std::string ToyCluster::Describe() const {
  std::string text;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    text += "run " + std::to_string(id.value) + " on " + run.slot.server + "/" + std::to_string(run.slot.index) + " " +
            std::string(Name(run.state)) + " at " + std::to_string(run.at().value) + " generation " +
            std::to_string(run.generation) + " promises";
    for (const PromisedAt& promise : ViewOf(run).promises) {
      text += " " + std::string(Name(promise.owed)) + "@" + std::to_string(promise.step.value);
    }
    text += "\n";
  }
  for (const ToyNode& node : nodes) {
    for (const auto& [id, run] : node.runs) {
      text += node.name + " trains run " + std::to_string(id.value) + " at " + std::to_string(run.at.value) +
              " generation " + std::to_string(run.order.terms.generation) + " promises";
      for (const OrderedPromise& promise : run.open) text += " " + std::to_string(promise.step.value);
      text += "\n";
    }
  }
  for (const auto& [id, plan] : state.plans) {
    text += std::to_string(plan.waiting.size()) + " claims of plan " + std::to_string(id.value) + " wait\n";
    std::vector<RunView> views;
    for (const RunId run : state.active_runs) {
      if (state.runs.at(run).plan == id) views.push_back(ViewOf(state.runs.at(run)));
    }
    text += Print(BuildStageTree(plan, views));
    for (const ClaimId waiting : plan.waiting) {
      const auto& claim = plan.claims.at(waiting);
      text +=
          "claim at " + std::to_string(claim.point.node.value) + "@" + std::to_string(claim.point.step.value) + "\n";
      for (const PlanNodeId n : LineageTo(plan, claim.point.node)) {
        text += " node " + std::to_string(n.value) + " from " + std::to_string(plan.Node(n).start.value) + ":";
        for (const auto& [step, checkpoint] : plan.Node(n).results->checkpoints) {
          text += " " + std::to_string(step.value) + "c";
        }
        for (const auto& [step, metrics] : plan.Node(n).results->metrics)
          text += " " + std::to_string(step.value) + "m";
        text += "\n";
      }
    }
    for (const std::string& line : log) text += line + "\n";
  }
  return text;
}

void ToyCluster::CrashARun() { FailARun(RunFailed::Kind::kCrash, "killed"); }

void ToyCluster::FailARun(RunFailed::Kind kind, const std::string& message) {
  for (ToyNode& node : nodes) {
    if (node.runs.empty()) continue;
    const RunId id = node.runs.begin()->first;
    const ToyRun& run = node.runs.begin()->second;
    const Step failed = std::max(run.at, Step{1});
    Tell(node, run.order.run, RunFailed{kind, {PointAt(run.order, failed).node, failed}, message});
    return End(node, id);
  }
}

void ToyCluster::RestartNode(std::size_t index) {
  ToyNode& node = nodes.at(index);
  const SessionId old = node.session;
  ++node.incarnation;
  node.next_report = 1;
  node.runs.clear();
  node.ended.clear();
  node.uploads.clear();
  node.unacknowledged.clear();
  Connect(node);
  Handle(NodeGone{old});
}

// Memory is lost; what was stored is loaded.
void ToyCluster::RestartMaster() {
  const LeadershipId leadership = state.leadership;
  state = {};
  for (const StateChange& change : stored_) Apply(state, change);
  for (auto& [id, run] : state.runs) {
    if (auto* training = std::get_if<Training>(&run.state)) *training = {BeginningOf(run).step};
  }
  state.leadership = leadership;
  Handle(Recovered{});
  for (ToyNode& node : nodes) Connect(node);
}

}  // namespace espalier::master
