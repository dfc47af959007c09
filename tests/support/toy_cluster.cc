#include "tests/support/toy_cluster.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "searchplan/plan/invariants.h"

namespace espalier::master {
namespace {

constexpr char kEvaluation[] = "toy-evaluation";

TrainerRecord ToyTrainer() {
  return {.name = "toy",
          .code_digest = "toy-1",
          .data_digest = "none",
          .evaluation_digest = kEvaluation,
          .schema = {{{"bs", ValueType::kInteger, Value{std::int64_t{32}}, false},
                      {"lr", ValueType::kFloating, Value{0.1}, false},
                      {"seed", ValueType::kInteger, Value{std::int64_t{1}}, true}}},
          .metrics = {"score"}};
}

const DesiredStage* StageReaching(const DesiredRun& run, Step step) {
  for (const DesiredStage& stage : run.path) {
    if (step > stage.stage.from && step <= stage.stage.to) return &stage;
  }
  return nullptr;
}

Point PointAt(const DesiredRun& run, Step step) {
  if (const DesiredStage* stage = StageReaching(run, step)) return {stage->stage.node, step};
  return run.start->point;
}

// Depends on the point alone: whoever trains it gets the same.
double ScoreAt(Point point) {
  return static_cast<double>(point.node.value) + 1e-3 * static_cast<double>(point.step.value);
}

}  // namespace

ToyCluster::ToyCluster(std::uint64_t seed, int node_count, int slots)
    : random_(seed), policy_(MakePolicy("critical_path").value()) {
  for (int i = 0; i < node_count; ++i) nodes.push_back({.name = "node-" + std::to_string(i), .slot_count = slots});
  for (ToyNode& node : nodes) Connect(node);
}

std::uint64_t ToyCluster::Draw(std::uint64_t below) { return random_() % below; }

void ToyCluster::Handle(const Event& event) {
  now_ += std::chrono::milliseconds(1);
  Transition transition = React(state, event, *policy_, settings_, now_);
  for (const auto& [id, plan] : state.plans) {
    const std::vector<std::string> broken = CheckInvariants(plan);
    INFO((broken.empty() ? "" : broken.front()));
    REQUIRE(broken.empty());
  }
  for (const Effect& effect : transition.effects) {
    if (const auto* reply = std::get_if<Reply>(&effect)) last_reply = *reply;
    if (const auto* added = std::get_if<EventsAdded>(&effect)) Hear(*added);
    if (const auto* line = std::get_if<LogLine>(&effect)) log.push_back(Print(*line));
    if (const auto* desired = std::get_if<SendDesired>(&effect)) {
      for (ToyNode& node : nodes) {
        if (node.session == desired->session) node.inbox.push_back(*desired);
      }
    }
  }
  for (const auto& [study, events] : state.events) REQUIRE(heard_[study].size() == events.size());
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
                                      .trainers = {ToyTrainer()}};
  message.reports = node.unacknowledged;
  Handle(message);
}

void ToyCluster::Report(ToyNode& node, RunId run, decltype(master::Report::kind) kind) {
  node.unacknowledged.push_back({node.next_report++, run, std::move(kind)});
}

void ToyCluster::TakeDesired(ToyNode& node, const SendDesired& desired) {
  std::erase_if(node.unacknowledged,
                [&](const master::Report& report) { return report.number <= desired.acknowledged_report; });
  std::set<RunId> wanted;
  for (const DesiredRun& run : desired.runs) {
    wanted.insert(run.run);
    const auto known = node.runs.find(run.run);
    if (known == node.runs.end()) {
      Begin(node, run);
    } else if (run.generation > known->second.desired.generation) {
      TakeGeneration(node, known->second, run);
    }
  }
  std::erase_if(node.runs, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

// A run that has ended here does not begin again; the targets of its later generations are lost.
void ToyCluster::Begin(ToyNode& node, const DesiredRun& run) {
  const auto ended = node.ended.find(run.run);
  if (ended == node.ended.end()) {
    ToyRun fresh{.desired = run, .at = run.start ? run.start->point.step : Step{0}, .open = run.targets};
    node.runs.emplace(run.run, std::move(fresh));
  } else if (run.generation > std::exchange(ended->second, run.generation)) {
    for (const Target& target : run.targets) LoseTarget(node, run, target.step, "the run had ended");
  }
}

void ToyCluster::TakeGeneration(ToyNode& node, ToyRun& run, const DesiredRun& desired) {
  run.desired = desired;
  run.open.clear();
  for (const Target& target : desired.targets) {
    if (target.step >= run.at) {
      run.open.push_back(target);
    } else {
      LoseTarget(node, desired, target.step, "the runner was past it");
    }
  }
}

void ToyCluster::LoseTarget(ToyNode& node, const DesiredRun& run, Step step, const std::string& why) {
  const bool reported = std::any_of(node.unacknowledged.begin(), node.unacknowledged.end(), [&](const auto& report) {
    const auto* reached = std::get_if<PointReached>(&report.kind);
    return report.run == run.run && reached != nullptr && reached->point.step == step;
  });
  if (!reported) Report(node, run.run, PromiseLost{run.generation, step, why});
}

void ToyCluster::Stop(ToyNode& node, ToyRun& run) {
  run.training = false;
  node.ended[run.desired.run] = run.desired.generation;
  Report(node, run.desired.run, RunEnded{run.at, Seconds(1)});
}

void ToyCluster::ReachTargets(ToyNode& node, ToyRun& run) {
  for (const Target& target : run.open) {
    if (target.step != run.at) continue;
    PointReached reached{.plan = run.desired.plan, .point = PointAt(run.desired, target.step)};
    if (target.evaluate) {
      reached.evaluation = kEvaluation;
      reached.metrics["score"] = ScoreAt(reached.point);
    }
    if (target.save) {
      const std::string name = std::to_string(reached.point.node.value) + "@" + std::to_string(target.step.value);
      reached.checkpoint = StoredCheckpoint{name + "-" + std::to_string(run.desired.run.value), 100, name};
    }
    Report(node, run.desired.run, reached);
  }
  std::erase_if(run.open, [&](const Target& target) { return target.step <= run.at; });
}

void ToyCluster::TrainStep(ToyNode& node, ToyRun& run) {
  ReachTargets(node, run);
  if (run.open.empty()) return Stop(node, run);
  run.at = run.at + 1;
  const DesiredStage* stage = StageReaching(run.desired, run.at);
  REQUIRE(stage != nullptr);
  ++trained[{stage->stage.node, run.at}];
  ++steps_trained;
  Report(node, run.desired.run, StepsTrained{stage->stage.node, run.at - 1, run.at, Seconds(1)});
}

void ToyCluster::Train(ToyNode& node) {
  std::vector<RunId> ids;
  for (const auto& [id, run] : node.runs) ids.push_back(id);
  for (const RunId id : ids) {
    ToyRun& run = node.runs.at(id);
    if (run.training) TrainStep(node, run);
    if (!run.training) node.runs.erase(id);
  }
}

void ToyCluster::Send(ToyNode& node) {
  NodeMessage message{.session = node.session, .reports = node.unacknowledged};
  for (const auto& [id, run] : node.runs) {
    message.runs.push_back({id, run.desired.generation, run.at, RunState::kTraining});
  }
  Handle(message);
}

void ToyCluster::Turn(int latency) {
  for (ToyNode& node : nodes) {
    if (!node.inbox.empty() && Draw(static_cast<std::uint64_t>(latency)) == 0) {
      const SendDesired desired = node.inbox.back();  // level-triggered: the newest says all
      node.inbox.clear();
      TakeDesired(node, desired);
    }
    Train(node);
    if (Draw(static_cast<std::uint64_t>(latency)) == 0) Send(node);
  }
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
            std::string(Name(run.state)) + " at " + std::to_string(run.at.value) + " generation " +
            std::to_string(run.generation) + " targets";
    for (const Target& target : OpenTargets(run)) text += " " + std::to_string(target.step.value);
    text += "\n";
  }
  for (const ToyNode& node : nodes) {
    for (const auto& [id, run] : node.runs) {
      text += node.name + " trains run " + std::to_string(id.value) + " at " + std::to_string(run.at.value) +
              " generation " + std::to_string(run.desired.generation) + " targets";
      for (const Target& target : run.open) text += " " + std::to_string(target.step.value);
      text += "\n";
    }
  }
  for (const auto& [id, plan] : state.plans) {
    text += std::to_string(plan.waiting.size()) + " claims of plan " + std::to_string(id.value) + " wait\n";
    std::vector<RunView> views;
    for (const RunId run : state.active_runs) views.push_back(ViewOf(state.runs.at(run)));
    text += Print(BuildStageTree(plan, views));
    for (const ClaimId waiting : plan.waiting) {
      const auto& claim = plan.claims.at(waiting);
      text +=
          "claim at " + std::to_string(claim.point.node.value) + "@" + std::to_string(claim.point.step.value) + "\n";
      for (const PlanNodeId n : LineageTo(plan, claim.point.node)) {
        text += " node " + std::to_string(n.value) + " from " + std::to_string(plan.Node(n).start.value) + ":";
        for (const auto& [step, record] : plan.Node(n).points)
          text +=
              " " + std::to_string(step.value) + (record.checkpoint ? "c" : "") + (record.metrics.empty() ? "" : "m");
        text += "\n";
      }
    }
    for (const std::string& line : log) text += line + "\n";
  }
  return text;
}

void ToyCluster::CrashARun() {
  for (ToyNode& node : nodes) {
    for (auto it = node.runs.begin(); it != node.runs.end(); ++it) {
      ToyRun& run = it->second;
      Report(node, it->first,
             RunFailed{RunFailed::Kind::kCrash, {PointAt(run.desired, run.at).node, run.at}, "killed"});
      for (const Target& target : run.open) {
        Report(node, it->first, PromiseLost{run.desired.generation, target.step, "the worker died"});
      }
      Stop(node, run);
      node.runs.erase(it);
      return;
    }
  }
}

void ToyCluster::RestartNode(std::size_t index) {
  ToyNode& node = nodes.at(index);
  const SessionId old = node.session;
  ++node.incarnation;
  node.next_report = 1;
  node.runs.clear();
  node.ended.clear();
  node.unacknowledged.clear();
  Connect(node);
  Handle(NodeGone{old});
}

void ToyCluster::RestartMaster() {
  state.servers.clear();
  for (auto& [id, run] : state.runs) run.at = run.start ? run.start->step : Step{0};
  for (ToyNode& node : nodes) Connect(node);
}

}  // namespace espalier::master
