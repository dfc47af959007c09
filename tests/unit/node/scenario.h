// A node manager's core with a pretended machine around it: workers that answer when told to, step logs, uploads and a
// clock. What was asked of workers and what was reported is kept as short texts:
//   "Init seed=7", "Setup lr=0.1", "Load /store/a", "Train 3", "Evaluate", "Save 3", "Kill"
//   "point 3 score=0.3 file", "lost 2@5" (generation 2, step 5), "trained n1 0-3", "failed diverged 3", "ended 3"
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "worker/node/core/core.h"

namespace espalier::node {

using Texts = std::vector<std::string>;

inline Configuration Configured(double lr, std::int64_t seed = 7) {
  return {{Function{Constant{Value{lr}}, Step{0}}, Function{Constant{Value{seed}}, Step{0}}}};
}

// A run over lr (a sequence) and seed (initial), in plan 1, on slot 0.
class RunBuilder {
 public:
  explicit RunBuilder(std::int64_t id) {
    run_.run = RunId{id};
    run_.trainer = "toy";
    run_.plan = PlanId{1};
    run_.hyper_parameter_names = {"lr", "seed"};
    run_.initial = {false, true};
    run_.wishes.generation = 1;
    run_.evaluation_digest = "digest";
  }
  RunBuilder& Slot(int slot) { return run_.slot = slot, *this; }
  RunBuilder& From(std::int64_t node, std::int64_t step, double lr) {
    run_.start = StartPoint{PlanNodeId{node}, Step{step}, "file", "sha", Configured(lr)};
    return *this;
  }
  // The path's next stage, to `to`.
  RunBuilder& Stage(std::int64_t node, std::int64_t to, double lr) {
    const Step from = PathEnd(run_);
    run_.path.push_back({PlanNodeId{node}, from, Step{to}, Configured(lr), "lineage" + std::to_string(node)});
    return *this;
  }
  RunBuilder& Stage(std::int64_t node, std::int64_t to, Function lr) {
    Stage(node, to, 0);
    run_.path.back().configuration.functions[0] = std::move(lr);
    return *this;
  }
  // Of the last stage: a hyper-parameter that the trainer does not declare.
  RunBuilder& Undeclared(const std::string& name, Function function) {
    run_.path.back().configuration.functions.push_back(std::move(function));
    run_.path.back().configuration.undeclared.push_back(name);
    return *this;
  }
  RunBuilder& Generation(std::int64_t generation) {
    run_.wishes.generation = generation;
    run_.wishes.targets.clear();
    return *this;
  }
  RunBuilder& Evaluate(std::int64_t step) { return Want({Step{step}, true, false}); }
  RunBuilder& Save(std::int64_t step) { return Want({Step{step}, false, true}); }
  RunBuilder& Both(std::int64_t step) { return Want({Step{step}, true, true}); }
  RunBuilder& Preempt() { return run_.wishes.preempt = true, *this; }
  RunBuilder& Hang(double seconds) { return run_.wishes.hang = Seconds(seconds), *this; }
  RunBuilder& EvaluateEvery(std::int64_t steps) { return run_.wishes.evaluate_every_steps.push_back(steps), *this; }
  RunBuilder& SaveEvery(double seconds) { return run_.wishes.save_every = Seconds(seconds), *this; }
  operator const DesiredRun&() const { return run_; }
  const DesiredRun& run() const { return run_; }

 private:
  RunBuilder& Want(Target target) { return run_.wishes.targets.push_back(target), *this; }
  DesiredRun run_;
};

inline std::string Text(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += " " + name + "=" + Print(value);
  return text;
}

inline std::string Text(const RequestKind& request) {
  struct Visitor {
    std::string operator()(const Describe&) const { return "Describe"; }
    std::string operator()(const Init& init) const { return "Init" + Text(init.values); }
    std::string operator()(const Setup& setup) const { return "Setup" + Text(setup.values); }
    std::string operator()(const Train& train) const { return "Train " + std::to_string(train.step.value); }
    std::string operator()(const node::Evaluate&) const { return "Evaluate"; }
    std::string operator()(const node::Save& save) const { return "Save " + std::to_string(save.identity.step.value); }
    std::string operator()(const Load& load) const { return "Load " + load.path; }
  };
  return std::visit(Visitor{}, request);
}

inline std::string Text(const ReportKind& report) {
  struct Visitor {
    std::string operator()(const PointReached& point) const {
      std::string text = "point " + std::to_string(point.step.value);
      for (const auto& [name, value] : point.metrics) text += " " + name + "=" + Print(Value{value});
      return text + (point.checkpoint.has_value() ? " file" : "");
    }
    std::string operator()(const PromiseLost& lost) const {
      return "lost " + std::to_string(lost.generation) + "@" + std::to_string(lost.step.value);
    }
    std::string operator()(const StepsTrained& trained) const {
      return "trained n" + std::to_string(trained.plan_node.value) + " " + std::to_string(trained.from.value) + "-" +
             std::to_string(trained.to.value);
    }
    std::string operator()(const RunFailed& failed) const {
      const char* kinds[] = {"crash", "trainer", "out of memory", "diverged", "evaluation", "checkpoint"};
      return std::string("failed ") + kinds[static_cast<int>(failed.kind)] + " " + std::to_string(failed.step.value);
    }
    std::string operator()(const RunEnded& ended) const { return "ended " + std::to_string(ended.step.value); }
  };
  return std::visit(Visitor{}, report);
}

class Scenario {
 public:
  explicit Scenario(int slot_count = 1) : core({slot_count, "/staging", "/logs", Seconds(10)}), slots_(slot_count) {
    Do(core.Start(now));
    for (int i = 0; i < slot_count; ++i) Answer(i);
    asked_.clear();
  }

  Core core;
  Seconds now{100};

  void Want(const std::vector<DesiredRun>& runs, std::int64_t acknowledged = 0) {
    desired_ = {runs, acknowledged, {}};
    Do(core.OnDesired(desired_, now));
  }
  void Acknowledge() {
    desired_.acknowledged_report = core.outbox().acknowledged() + std::ssize(core.outbox().After(0, 1000));
    Do(core.OnDesired(desired_, now));
  }
  void Pass(double seconds) {
    now += Seconds(seconds);
    Do(core.OnTick(now));
  }
  void Stop() { Do(core.OnStop(now)); }

  // Answers the slot's oldest request, saves excepted, successfully, or as told.
  void Answer(int slot = 0) { AnswerWith(std::nullopt, slot); }
  void AnswerWith(std::optional<ReplyKind> reply, int slot = 0) {
    auto& waiting = slots_[slot].waiting;
    REQUIRE_FALSE(waiting.empty());
    const WorkerRequest request = waiting.front();
    waiting.pop_front();
    if (!reply.has_value()) reply = Success(request.kind);
    Do(core.OnWorkerReplied(slot, slots_[slot].worker, {request.id, *reply}, now));
  }
  // Answers until Train to `step` has been asked for, but not answered.
  void RunInto(std::int64_t step, int slot = 0) {
    while (!Waits(Train{Step{step}}, slot)) Answer(slot);
  }
  // Answers all there is to answer, saves excepted.
  void RunOut(int slot = 0) {
    while (!slots_[slot].waiting.empty()) Answer(slot);
  }
  void AnswerSave(std::optional<ReplyKind> reply = std::nullopt, int slot = 0) {
    auto& waiting = slots_[slot].saves;
    REQUIRE_FALSE(waiting.empty());
    const WorkerRequest request = waiting.front();
    waiting.pop_front();
    if (!reply.has_value()) reply = Saved{"sha", 100, Seconds(0)};
    Do(core.OnWorkerReplied(slot, slots_[slot].worker, {request.id, *reply}, now));
  }
  void FinishUpload(const std::string& error = "") {
    REQUIRE_FALSE(uploads.empty());
    const UploadFile upload = uploads.front();
    uploads.pop_front();
    Do(core.OnUploadFinished(upload.upload, error, now));
  }
  void Die(const std::string& log = "last words", int slot = 0) {
    const std::int64_t worker = slots_[slot].worker;
    slots_[slot] = {};
    Do(core.OnWorkerDied(slot, worker, log, now));
  }
  void FetchFails(const std::string& why) { fetch_error_ = why; }

  // Since it was last asked.
  Texts Asked() { return std::exchange(asked_, {}); }
  Texts Reported() {
    Texts texts;
    for (const Report& report : core.outbox().After(reported_, 1000)) {
      texts.push_back(Text(report.kind));
      reported_ = report.number;
    }
    return texts;
  }
  RunStatus Status(std::int64_t run) const {
    for (const RunStatus& status : core.Statuses()) {
      if (status.run == RunId{run}) return status;
    }
    return {};
  }
  bool Knows(std::int64_t run) const { return Status(run).run == RunId{run}; }

  std::deque<UploadFile> uploads;
  std::vector<node::Save> saves;
  Texts deleted;
  Texts removed;
  std::vector<RunId> forgotten;
  int spawned = 0;
  bool quit = false;

 private:
  struct Slot {
    std::int64_t worker = 0;
    std::deque<WorkerRequest> waiting;
    std::deque<WorkerRequest> saves;
    RunId run;
  };

  bool Waits(const RequestKind& request, int slot) const {
    const auto& waiting = slots_[slot].waiting;
    return !waiting.empty() && Text(waiting.front().kind) == Text(request);
  }

  ReplyKind Success(const RequestKind& request) {
    if (std::holds_alternative<Describe>(request)) return Description{1, "kind", {}};
    if (std::holds_alternative<node::Evaluate>(request)) return Evaluated{{{"score", 0.5}}, Seconds(0.25)};
    const auto* train = std::get_if<Train>(&request);
    if (train == nullptr) return Done{};
    now += Seconds(0.1);
    log_ += std::to_string(run_in_log_.value) + " " + std::to_string(train->step.value) + " 0.125\n";
    logs_[run_in_log_] = log_;
    return Trained{{{"loss", 1.0}, {"samples", 10.0}}, Seconds(0.125)};
  }

  void Do(const Actions& actions) {
    for (const Action& action : actions) std::visit([this](const auto& item) { Act(item); }, action);
  }
  void Act(const SpawnWorker& spawn) {
    slots_[spawn.slot] = {spawn.worker, {}, {}, {}};
    ++spawned;
  }
  void Act(const SendRequest& send) {
    const std::string slot = send.slot == 0 ? "" : std::to_string(send.slot) + ": ";
    asked_.push_back(slot + Text(send.request.kind));
    const auto* save = std::get_if<node::Save>(&send.request.kind);
    if (save != nullptr) saves.push_back(*save);
    if (const auto* init = std::get_if<Init>(&send.request.kind)) {
      run_in_log_ = init->run;
      log_.clear();
    }
    (save != nullptr ? slots_[send.slot].saves : slots_[send.slot].waiting).push_back(send.request);
  }
  void Act(const KillWorker&) { asked_.push_back("Kill"); }
  void Act(const FetchCheckpoint& fetch) {
    const std::string path = fetch_error_.empty() ? "/store/" + fetch.file : "";
    Do(core.OnCheckpointFetched(fetch.run, path, fetch_error_, now));
  }
  void Act(const UploadFile& upload) { uploads.push_back(upload); }
  void Act(const RemoveFromStore& remove) { removed.push_back(remove.name); }
  void Act(const DeleteStaged& file) { deleted.push_back(file.path); }
  void Act(const RecordRun&) {}
  void Act(const ReadStepLog& read) {
    const std::string text = logs_[read.run].substr(static_cast<std::size_t>(read.offset));
    Do(core.OnStepLogRead(read.run, text, now));
  }
  void Act(const ForgetRun& forget) { forgotten.push_back(forget.run); }
  void Act(const Quit&) { quit = true; }

  std::vector<Slot> slots_;
  DesiredState desired_;
  Texts asked_;
  std::int64_t reported_ = 0;
  RunId run_in_log_;
  std::string log_;
  std::map<RunId, std::string> logs_;
  std::string fetch_error_;
};

}  // namespace espalier::node
