// A node manager's core with a pretended machine around it: workers that answer when told to, step logs, a store and a
// clock. What was asked of workers and what was reported is kept as short texts:
//   "Init lr=0.1 seed=7", "Proceed", "Setup lr=0.1", "Load /store/a", "Train 3", "Evaluate", "Save 3", "Kill",
//   "Train 3 until 6, at 4 lr=0.2" (of workers that train stretches)
//   "metrics 3 score=0.3", "state 3", "lost state 5", "lost unnamed 5" (a save that nobody had asked for),
//   "series n1 2 3", "full for 100" (bytes), "trained n1 0-3", "failed diverged 3", "evaluation failed crash 3", "start
//   unusable file", "refused", "ended 3", "ended 3 saving 2 3"
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/store_name.h"
#include "worker/node/core/core.h"
#include "worker/node/core/run_files.h"

namespace espalier::node {

using Texts = std::vector<std::string>;

inline RunKey Key(std::int64_t run) { return {LeadershipId{77}, RunId{run}}; }

inline Configuration Configured(double lr, std::int64_t seed = 7) {
  return {{Function{Constant{Value{lr}}, Step{0}}, Function{Constant{Value{seed}}, Step{0}}}};
}

// What the pretended workers train: over lr (a sequence) and seed (initial), and any other.
inline Offer ToyOffer() {
  return {.trainer = "toy",
          .code_digest = "code",
          .data_digest = "data",
          .evaluation_digest = "evaluation",
          .schema = {.hyper_parameters = {{"lr", ValueType::kFloating, Value{0.1}, false},
                                          {"seed", ValueType::kInteger, Value{std::int64_t{7}}, true}},
                     .takes_any = true},
          .metrics = {"score"}};
}

inline Digest128 LineageOf(std::int64_t node) { return espalier::DigestOf("lineage " + std::to_string(node)); }

// So many devices, each with one slot.
inline std::vector<Device> OneSlotEach(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.push_back({.name = "cores-" + std::to_string(i)});
  return devices;
}

// An order in plan 1, on slot 0. A promise is the same in every generation: its id says its step and what is owed.
class RunBuilder {
 public:
  explicit RunBuilder(std::int64_t id) {
    order_.run = Key(id);
    order_.offer = ToyOffer();
    order_.plan = PlanId{1};
    order_.terms.generation = 1;
  }
  // Of a device that has no other (OneSlotEach).
  RunBuilder& Slot(int slot) { return order_.slot = order_.reservation.device = slot, *this; }
  RunBuilder& Reserve(Reservation reservation) { return order_.reservation = reservation, *this; }
  RunBuilder& By(Offer offer) { return order_.offer = std::move(offer), *this; }
  // `run`: that has saved it, under its own name; 0: nobody here.
  RunBuilder& From(std::int64_t node, std::int64_t step, double lr, std::int64_t run = 0) {
    const Point point{PlanNodeId{node}, Step{step}};
    const std::string file = run == 0 ? "file" : StoreName(order_.plan, point, Key(run));
    order_.start = OrderedStart{point, file, "sha", Configured(lr), LineageOf(node), Configured(lr)};
    end_ = Step{step};
    return *this;
  }
  RunBuilder& OfOtherCode() { return order_.start->of_other_code = true, *this; }
  // The path's next stage, to `to`.
  RunBuilder& Stage(std::int64_t node, std::int64_t to, double lr) { return Stage(node, to, Configured(lr)); }
  RunBuilder& Stage(std::int64_t node, std::int64_t to, Function lr) {
    Configuration configuration = Configured(0);
    configuration.functions[0] = std::move(lr);
    return Stage(node, to, configuration);
  }
  RunBuilder& Stage(std::int64_t node, std::int64_t to, const Configuration& configuration) {
    order_.path.push_back({{PlanNodeId{node}, end_, Step{to}}, configuration, LineageOf(node)});
    end_ = Step{to};
    return *this;
  }
  // Of the last stage: a hyper-parameter that the trainer does not declare.
  RunBuilder& Undeclared(const std::string& name, Function function) {
    Configuration configuration = order_.path.back().configuration.Unpack();
    configuration.functions.push_back(std::move(function));
    configuration.undeclared.push_back(name);
    order_.path.back().configuration = configuration;
    return *this;
  }
  // Later terms, without promises yet.
  RunBuilder& Generation(std::int64_t generation) {
    order_.terms.generation = generation;
    order_.terms.promises.clear();
    return *this;
  }
  RunBuilder& Evaluate(std::int64_t step) { return Promise(step, Owed::kMetrics); }
  RunBuilder& Save(std::int64_t step, Need need = Need::kOnTheWay) {
    Promise(step, Owed::kState);
    order_.terms.promises.back().need = need;
    return *this;
  }
  RunBuilder& Both(std::int64_t step) { return Evaluate(step).Save(step); }
  RunBuilder& Preempt() { return order_.terms.preempt = true, *this; }
  RunBuilder& Limits(TimeLimits limits) { return order_.terms.limits = limits, *this; }
  RunBuilder& EvaluateEvery(std::int64_t steps) { return order_.terms.evaluate_every.push_back(steps), *this; }
  RunBuilder& Barred(std::int64_t step) { return order_.terms.barred_evaluations.push_back(Step{step}), *this; }
  RunBuilder& SaveEvery(double seconds) { return order_.terms.save_every = Seconds(seconds), *this; }
  operator const Order&() const { return order_; }

 private:
  RunBuilder& Promise(std::int64_t step, Owed owed) {
    order_.terms.promises.push_back({PromiseId{step * 10 + (owed == Owed::kState ? 2 : 1)}, Step{step}, owed});
    return *this;
  }
  Order order_;
  Step end_;
};

inline std::string Text(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) text += " " + name + "=" + Print(value);
  return text;
}

inline std::string Text(Step step) { return " " + std::to_string(step.value); }

inline std::string Text(const RequestKind& request) {
  struct Visitor {
    std::string operator()(const Describe&) const { return "Describe"; }
    std::string operator()(const Init& init) const { return "Init" + Text(init.values); }
    std::string operator()(const Setup& setup) const { return "Setup" + Text(setup.values); }
    std::string operator()(const Proceed& proceed) const {
      CHECK(proceed.step_log == "/logs/" + StepLogName(proceed.run));
      return "Proceed";
    }
    std::string operator()(const Train& train) const {
      std::string text = "Train" + Text(train.step);
      if (train.until > Step{}) text += " until" + Text(train.until);
      for (const ValuesAtStep& each : train.ahead) text += ", at" + Text(each.step) + Text(each.values);
      return text;
    }
    std::string operator()(const node::Evaluate&) const { return "Evaluate"; }
    std::string operator()(const node::Save& save) const { return "Save" + Text(save.identity.point.step); }
    std::string operator()(const Load& load) const { return "Load " + load.path; }
  };
  return std::visit(Visitor{}, request);
}

inline std::string Text(const ReportKind& report) {
  struct Visitor {
    std::string operator()(const MetricsMeasured& measured) const {
      std::string text = "metrics" + Text(measured.point.step);
      for (const auto& [name, value] : measured.metrics) text += " " + name + "=" + Print(Value{value});
      return text;
    }
    std::string operator()(const TrainingMetrics& trained) const {
      std::string text = "series n" + std::to_string(trained.node.value);
      for (const Step step : trained.series.steps) text += Text(step);
      return text;
    }
    std::string operator()(const StateStored& stored) const { return "state" + Text(stored.point.step); }
    std::string operator()(const PromiseLost& lost) const {
      const char* owed[] = {" unnamed", " metrics", " state"};
      if (lost.promise.value > 0) CHECK(lost.promise.value / 10 == lost.step.value);
      return std::string("lost") + owed[lost.promise.value % 10] + Text(lost.step);
    }
    std::string operator()(const StepsTrained& trained) const {
      return "trained n" + std::to_string(trained.node.value) + Text(trained.from) + "-" +
             std::to_string(trained.to.value);
    }
    std::string operator()(const RunFailed& failed) const {
      return "failed " + std::string(Name(failed.kind)) + Text(failed.point.step);
    }
    std::string operator()(const EvaluationFailed& failed) const {
      const char* kinds[] = {"crash", "trainer", "out of memory", "unusable"};
      return std::string("evaluation failed ") + kinds[static_cast<int>(failed.kind)] + Text(failed.point.step);
    }
    std::string operator()(const StartUnusable& start) const { return "start unusable " + start.file; }
    std::string operator()(const StoreFull& full) const { return "full for " + std::to_string(full.bytes); }
    std::string operator()(const RunEnded& ended) const {
      if (!ended.refused.empty()) return "refused";
      std::string text = "ended" + Text(ended.step);
      if (!ended.saves_under_way.empty()) text += " saving";
      for (const Step step : ended.saves_under_way) text += Text(step);
      return text;
    }
  };
  return std::visit(Visitor{}, report);
}

class Scenario {
 public:
  // `capabilities`: of all workers.
  explicit Scenario(int slot_count = 1, std::int64_t staging_bytes = 0, worker::Capabilities capabilities = {})
      : Scenario(OneSlotEach(slot_count), staging_bytes, std::move(capabilities)) {}
  explicit Scenario(const std::vector<Device>& devices, std::int64_t staging_bytes = 0,
                    worker::Capabilities capabilities = {})
      : core({devices, {"toy"}, 2, "/staging", "/logs", Seconds(10), staging_bytes}),
        slots_(SlotCountOf(devices)),
        capabilities_(std::move(capabilities)) {
    Start();
    for (int i = 0; i < SlotCountOf(devices); ++i) Answer(i);
    asked_.clear();
  }

  Core core;
  Seconds now{100};

  void Start() { Do(core.Start(now)); }
  void Want(const std::vector<Order>& orders, std::int64_t acknowledged = 0) {
    orders_ = {orders, acknowledged, {}};
    Do(core.OnOrders(orders_, now));
  }
  // As a master does: what has ended is ordered no more.
  void Acknowledge() {
    for (const RunStatus& status : core.Statuses()) {
      if (status.state != RunStatus::State::kEnded) continue;
      std::erase_if(orders_.orders, [&](const Order& order) { return order.run == status.run; });
    }
    orders_.acknowledged_report = core.outbox().acknowledged() + std::ssize(core.outbox().After(0, 1000));
    Do(core.OnOrders(orders_, now));
  }
  // Let time pass, at a tick a second.
  void Pass(double seconds) {
    for (; seconds > 1; --seconds) {
      now += Seconds(1);
      Do(core.OnTick(now));
    }
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
    if (!reply.has_value()) reply = Success(request.kind, slot);
    Do(core.OnWorkerReplied(slot, slots_[slot].worker, {request.id, *reply}, now));
  }
  // The worker says that it gets on with the slot's oldest request, or save.
  void Beat(int slot = 0) { Beat(slots_[slot].waiting.front().id, slot); }
  void BeatSave(int slot = 0) { Beat(slots_[slot].saves.front().id, slot); }
  // The slot's oldest request is a step, and the worker goes on by itself, having trained it.
  void GoOn(int slot = 0) {
    const ReplyKind reply = Success(slots_[slot].waiting.front().kind, slot);
    Trained trained = std::get<Trained>(reply);
    trained.goes_on = true;
    AnswerWith(trained, slot);
  }
  // Answers until Train to `step` has been asked for, but not answered.
  void RunInto(std::int64_t step, int slot = 0) {
    while (!Waits(Train{Step{step}}, slot)) Answer(slot);
  }
  // Answers all there is to answer, saves excepted.
  void RunOut(int slot = 0) {
    while (!slots_[slot].waiting.empty()) Answer(slot);
  }
  // Likewise, until an evaluation has been asked for.
  void RunIntoEvaluation(int slot = 0) {
    while (!Waits(node::Evaluate{}, slot)) Answer(slot);
  }
  void AnswerSave(std::optional<ReplyKind> reply = std::nullopt, int slot = 0) {
    auto& waiting = slots_[slot].saves;
    REQUIRE_FALSE(waiting.empty());
    const WorkerRequest request = waiting.front();
    waiting.pop_front();
    if (!reply.has_value()) reply = Saved{"sha", 100};
    Do(core.OnWorkerReplied(slot, slots_[slot].worker, {request.id, *reply}, now));
  }
  void FinishUpload(const Result<void>& stored = {}) {
    REQUIRE_FALSE(uploads.empty());
    const UploadFile upload = uploads.front();
    uploads.pop_front();
    Do(core.OnUploadFinished(upload.upload, stored, now));
  }
  void Die(const WorkerDeath& death = {.last_words = "last words"}, int slot = 0) {
    const std::int64_t worker = slots_[slot].worker;
    slots_[slot] = {};
    Do(core.OnWorkerDied(slot, worker, death, now));
  }
  // From now on.
  void FetchFails(ErrorCode code) { fetch_error_ = Error{code, "fetching fails", ""}; }
  void FetchSucceeds() { fetch_error_.reset(); }
  // Of the workers that are started from now on.
  void Offer(std::vector<espalier::Offer> offers) { offers_ = std::move(offers); }

  // Since it was last asked. Training metrics, which are no part of what a run owes, are told apart.
  Texts Asked() { return std::exchange(asked_, {}); }
  Texts Reported() {
    Take();
    return std::exchange(reported_, {});
  }
  Texts ReportedSeries() {
    Take();
    return std::exchange(reported_series_, {});
  }
  // The newest report of that kind.
  template <class Kind>
  Kind Last() const {
    Kind last;
    for (const Report& report : core.outbox().After(0, 1000)) {
      if (const auto* kind = std::get_if<Kind>(&report.kind)) last = *kind;
    }
    return last;
  }
  RunStatus Status(std::int64_t run) const {
    for (const RunStatus& status : core.Statuses()) {
      if (status.run == Key(run)) return status;
    }
    return {};
  }
  bool Knows(std::int64_t run) const { return Status(run).run == Key(run); }

  std::deque<UploadFile> uploads;
  std::vector<node::Save> saves;
  Texts deleted;
  Texts removed;
  std::vector<RunKey> forgotten;
  int fetch_count = 0;
  std::set<RunKey> fetched;  // for whom a file is kept readable
  int spawned = 0;
  bool quit = false;

 private:
  struct Slot {
    std::int64_t worker = 0;
    std::deque<WorkerRequest> waiting;
    std::deque<WorkerRequest> saves;
    RunKey run;
  };

  void Take() {
    for (const Report& report : core.outbox().After(taken_report_, 1000)) {
      const bool is_series = std::holds_alternative<TrainingMetrics>(report.kind);
      (is_series ? reported_series_ : reported_).push_back(Text(report.kind));
      taken_report_ = report.number;
    }
  }

  void Beat(std::int64_t request, int slot) {
    Do(core.OnWorkerReplied(slot, slots_[slot].worker, {request, Heartbeat{}}, now));
  }

  bool Waits(const RequestKind& request, int slot) const {
    const auto& waiting = slots_[slot].waiting;
    return !waiting.empty() && Text(waiting.front().kind) == Text(request);
  }

  ReplyKind Success(const RequestKind& request, int slot) {
    if (std::holds_alternative<Describe>(request)) return Description{1, "kind", offers_, capabilities_};
    if (std::holds_alternative<node::Evaluate>(request)) return Evaluated{{{"score", 0.5}}, Seconds(0.25)};
    const auto* train = std::get_if<Train>(&request);
    if (train == nullptr) return Done{};
    now += Seconds(0.1);
    const RunKey run = slots_[slot].run;
    logs_[run] += std::to_string(run.run.value) + " " + std::to_string(train->step.value) + " 0.125\n";
    return Trained{{{"loss", 1.0}, {"samples", 10.0}}, Seconds(0.125)};
  }

  void Do(const Actions& actions) {
    for (const Action& action : actions) std::visit([this](const auto& item) { Act(item); }, action);
  }
  void Act(const SpawnWorker& spawn) {
    slots_[spawn.slot] = {.worker = spawn.worker};
    ++spawned;
  }
  void Act(const SendRequest& send) {
    const std::string slot = send.slot == 0 ? "" : std::to_string(send.slot) + ": ";
    asked_.push_back(slot + Text(send.request.kind));
    const auto* save = std::get_if<node::Save>(&send.request.kind);
    if (save != nullptr) saves.push_back(*save);
    if (const auto* init = std::get_if<Init>(&send.request.kind)) slots_[send.slot].run = init->run;
    if (const auto* proceed = std::get_if<Proceed>(&send.request.kind)) slots_[send.slot].run = proceed->run;
    (save != nullptr ? slots_[send.slot].saves : slots_[send.slot].waiting).push_back(send.request);
  }
  void Act(const KillWorker&) { asked_.push_back("Kill"); }
  void Act(const FetchCheckpoint& fetch) {
    ++fetch_count;
    Result<std::string> path = "/store/" + fetch.file;
    if (fetch_error_.has_value()) path = tl::unexpected<Error>(*fetch_error_);
    if (path.has_value()) fetched.insert(fetch.run);
    Do(core.OnCheckpointFetched(fetch.run, path, now));
  }
  void Act(const ReleaseCheckpoint& release) {
    CHECK(fetched.contains(release.run));
    fetched.erase(release.run);
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
  void Act(const FetchReference&) {}
  void Act(const StartCheck&) {}
  void Act(const KillCheck&) {}
  void Act(const ForgetReference&) {}
  void Act(const Quit&) { quit = true; }

  std::vector<Slot> slots_;
  worker::Capabilities capabilities_;
  ServerOrders orders_;
  Texts asked_;
  std::int64_t taken_report_ = 0;
  Texts reported_;
  Texts reported_series_;
  std::map<RunKey, std::string> logs_;
  std::optional<Error> fetch_error_;
  std::vector<espalier::Offer> offers_{ToyOffer()};
};

inline tl::unexpected<Error> Away() { return MakeError(ErrorCode::kUnavailable, "the store is away"); }
inline tl::unexpected<Error> Full() { return MakeError(ErrorCode::kResourceExhausted, "no space left"); }
inline tl::unexpected<Error> RefusedForGood() { return MakeError(ErrorCode::kNotFound, "there is no staged file"); }

}  // namespace espalier::node
