#include "worker/node/core/runner.h"

#include <algorithm>

#include "base/check.h"
#include "protocol/store_name.h"
#include "worker/node/core/run_faults.h"
#include "worker/node/core/run_files.h"

namespace espalier::node {
namespace {

constexpr Seconds kStopPatience{1};

constexpr const char* kWrongKind = "the worker gave an answer of the wrong kind";

std::string WholeSeconds(Seconds time) { return std::to_string(static_cast<std::int64_t>(time.count())) + " s"; }

}  // namespace

Runner::Runner(Order order) : order_(std::move(order)), path_(order_), reached_(path_.start()), begun_(path_.start()) {
  order_.terms = {.generation = -1};
}

RunStatus Runner::Status() const {
  RunStatus::State state = RunStatus::State::kTraining;
  if (ended()) state = saves_.UnderWay().empty() ? RunStatus::State::kEnded : RunStatus::State::kSaving;
  return {order_.run, order_.terms.generation, begun_, state};
}

bool Runner::Owes(Owed owed, Step step) const {
  return std::any_of(order_.terms.promises.begin(), order_.terms.promises.end(),
                     [&](const OrderedPromise& promise) { return promise.owed == owed && promise.step == step; });
}

Need Runner::NeedOf(Step step) const {
  Need need = Need::kOnTheWay;
  for (const OrderedPromise& promise : order_.terms.promises) {
    if (promise.owed == Owed::kState && promise.step == step) need = std::min(need, promise.need);
  }
  return need;
}

bool Runner::IsBarred(Step step) const {
  const std::vector<Step>& barred = order_.terms.barred_evaluations;
  return failed_evaluations_.contains(step) || std::find(barred.begin(), barred.end(), step) != barred.end();
}

// Neither kept nor to be kept any more.
std::optional<std::string> Runner::WhyLost(const OrderedPromise& promise) const {
  const Step step = promise.step;
  const bool off_path = step < std::max(path_.start(), Step{1}) || step > path_.end();
  if (off_path) return "it is not on the run's path";
  if (promise.owed == Owed::kState) {
    if (saves_.IsLost(step)) return "its state was lost";
    return step < begun_ && !saves_.Begun(step) ? std::optional("the run is past it") : std::nullopt;
  }
  if (measured_.contains(step)) return std::nullopt;
  if (IsBarred(step)) return "its evaluation failed";
  return step < begun_ ? std::optional("the run is past it") : std::nullopt;
}

bool Runner::IsAhead(const OrderedPromise& promise) const {
  return begun_ <= promise.step && !lost_.contains(promise.id);
}

bool Runner::AnythingAhead() const {
  return std::any_of(order_.terms.promises.begin(), order_.terms.promises.end(),
                     [this](const OrderedPromise& promise) { return IsAhead(promise); });
}

Step Runner::End() const {
  Step end = path_.start();
  for (const OrderedPromise& promise : order_.terms.promises) {
    if (IsAhead(promise)) end = std::max(end, promise.step);
  }
  return finished_.has_value() ? std::min(end, finished_->point.step - 1) : end;
}

// A preempted run owes nothing but its state.
bool Runner::WantsEvaluation() const {
  if (preempted_ || measured_.contains(reached_) || IsBarred(reached_)) return false;
  if (Owes(Owed::kMetrics, reached_) || IsAtLastStep()) return true;
  const auto& periods = order_.terms.evaluate_every;
  return reached_ > path_.start() && std::any_of(periods.begin(), periods.end(), [this](std::int64_t period) {
           return period > 0 && reached_.value % period == 0;
         });
}

bool Runner::WantsSave(Seconds now) const {
  if (saves_.Begun(reached_)) return false;
  if (Owes(Owed::kState, reached_)) return true;
  if (reached_ == path_.start()) return false;
  return preempted_ || IsAtLastStep() || SaveIsDue(now);
}

bool Runner::SaveIsDue(Seconds now) const {
  const Seconds period = order_.terms.save_every;
  return period > Seconds(0) && now - saved_at_ >= period;
}

void Runner::Begin(const Workplace& place, Seconds now, RunnerActions& actions) {
  ESPALIER_CHECK(waiting());
  const bool load_failed = std::get<Waiting>(state_).load_failed;
  OnSlot& slot = state_.emplace<OnSlot>();
  slot.since = slot.working_since = saved_at_ = now;
  const Values at_init = path_.ValuesAtInit();
  const Beginning beginning =
      place.standing.has_value() ? BeginningOf(order_, at_init, *place.standing) : Beginning::kInit;
  slot.activity = Starting{.load_failed = load_failed, .beginning = beginning};
  slot.asked = {Work::kSetUp};
  slot.set_up = beginning != Beginning::kInit;
  staging_ = place.staging;
  stop_patience_ = std::max(kStopPatience, place.start_time);
  trains_stretches_ = place.trains_stretches;
  in_force_.clear();
  if (beginning == Beginning::kInit) {
    const Offer& offer = order_.offer;
    actions.requests.push_back(Init{order_.run, offer.trainer, offer.data, order_.step, at_init, place.step_log});
  } else {
    actions.requests.push_back(Proceed{order_.run, place.step_log});
  }
  if (!order_.start.has_value()) return;
  in_force_ = path_.SequenceValues(reached_ - 1);
  if (beginning == Beginning::kGoOn) return;
  Values all = in_force_;
  if (beginning == Beginning::kReload) all.merge(Changed(in_force_, place.standing->in_force));
  actions.requests.push_back(Setup{std::move(all)});
  actions.requests.push_back(Load{place.start_path, order_.start->of_other_code});
  slot.asked.insert(slot.asked.end(), {Work::kSetUp, Work::kLoad});
}

std::optional<Standing> Runner::Left() const {
  if (on_slot() || !is_whole_) return std::nullopt;
  Standing standing{.offer = DigestOf(order_.offer),
                    .step = order_.step,
                    .at_init = path_.ValuesAtInit(),
                    .in_force = in_force_,
                    .file = {}};
  if (saves_.Begun(reached_)) {
    standing.file = StoreName(order_.plan, path_.PointAt(reached_), order_.run);
  } else if (order_.start.has_value() && reached_ == path_.start()) {
    standing.file = order_.start->file;
  }
  return standing;
}

void Runner::Advance(Seconds now, RunnerActions& actions) {
  OnSlot& slot = std::get<OnSlot>(state_);
  if (goes_on_) return GoOn(now, actions);
  if (WantsEvaluation()) {
    slot.activity = Evaluating{};
    slot.asked = {Work::kEvaluate};
    actions.requests.push_back(Evaluate{});
    return;
  }
  if (WantsSave(now)) {
    if (!has_room_ && (preempted_ || Owes(Owed::kState, reached_))) {
      slot.activity = AwaitingRoom{};
      return;
    }
    if (has_room_) SaveHere(now, actions);
  }
  if (IsAtLastStep()) return Finish(HowItFinished(), now, actions);
  if (preempted_ || reached_ >= End()) return Finish(std::nullopt, now, actions);
  BeginStep(now, actions);
}

void Runner::SaveHere(Seconds now, RunnerActions& actions) {
  const std::string staged = staging_ + "/" + StagedName(order_.run, reached_);
  saves_.Begin(reached_, staged, now);
  saved_at_ = now;
  actions.requests.push_back(
      Save{staged, {order_.run, order_.plan, path_.PointAt(reached_), path_.LineageAt(reached_)}});
}

void Runner::OnHeartbeat(const RequestKind& request, Seconds now) {
  if (const auto* save = std::get_if<Save>(&request)) return saves_.OnHeartbeat(save->identity.point.step, now);
  if (auto* slot = std::get_if<OnSlot>(&state_)) slot->heard_at = now;
}

void Runner::OnReply(const RequestKind& request, const ReplyKind& reply, Seconds now, RunnerActions& actions) {
  if (const auto* save = std::get_if<Save>(&request)) return OnSaveReply(*save, reply, now, actions);
  auto* slot = std::get_if<OnSlot>(&state_);
  if (slot == nullptr || slot->asked.empty()) return;
  if (Is<Dying>()) return TakeIfTrained(request, reply, now);
  const Seconds took = now - slot->working_since;
  slot->asked.pop_front();
  slot->working_since = now;
  if (SaysUnusable(reply)) actions.retire_worker = true;
  if (std::holds_alternative<Failure>(reply)) is_whole_ = std::get<Failure>(reply).state_intact;
  if (std::holds_alternative<Train>(request)) {
    const auto* trained = std::get_if<Trained>(&reply);
    goes_on_ = trained != nullptr && trained->goes_on && begun_ < stretch_end_;
  }
  if (Is<Stopping>()) return OnReplyWhileStopping(request, reply, now, actions);
  if (const auto* failure = std::get_if<Failure>(&reply)) return OnFailure(request, *failure, now, actions);
  if (const auto* train = std::get_if<Train>(&request)) {
    if (const auto* trained = std::get_if<Trained>(&reply)) return OnTrained(train->step, *trained, now, actions);
  } else if (std::holds_alternative<Evaluate>(request)) {
    if (const auto* evaluated = std::get_if<Evaluated>(&reply)) return OnEvaluated(*evaluated, now, actions);
  } else if (std::holds_alternative<Done>(reply)) {
    return OnPrepared(request, took, now, actions);
  }
  is_whole_ = false;
  Finish(FaultNow(RunFailed::Kind::kTrainer, kWrongKind), now, actions);
}

// Init, Setup, Load or Proceed is done.
void Runner::OnPrepared(const RequestKind& request, Seconds took, Seconds now, RunnerActions& actions) {
  OnSlot& slot = std::get<OnSlot>(state_);
  const bool is_setup = std::holds_alternative<Setup>(request);
  if (std::holds_alternative<Init>(request) || (is_setup && !slot.set_up)) end_.set_up_time += took;
  slot.set_up |= is_setup;
  if (std::holds_alternative<Load>(request)) end_.load_time = took;
  if (!Is<Starting>()) return;
  is_whole_ = slot.asked.empty();
  if (std::get<Starting>(slot.activity).begin_again) return BeginAgain(now, actions);
  if (preempted_) return Finish(std::nullopt, now, actions);
  if (slot.asked.empty()) Advance(now, actions);
}

void Runner::OnEvaluated(const Evaluated& evaluated, Seconds now, RunnerActions& actions) {
  const auto& expected = order_.offer.metrics;
  const auto missing = std::find_if(expected.begin(), expected.end(),
                                    [&](const std::string& name) { return !evaluated.metrics.contains(name); });
  if (evaluated.metrics.empty() || missing != expected.end()) {
    const std::string name = missing == expected.end() ? "any metric" : *missing;
    return OnEvaluationFailed({FailureKind::kTrainer, "the evaluation did not return " + name, true}, now, actions);
  }
  ReportMetrics(evaluated, actions);
  Advance(now, actions);
}

void Runner::ReportMetrics(const Evaluated& evaluated, RunnerActions& actions) {
  measured_.insert(reached_);
  actions.reports.push_back(MetricsMeasured{order_.plan, path_.PointAt(reached_), path_.LineageAt(reached_),
                                            order_.offer.evaluation_digest, evaluated.metrics, evaluated.time});
}

void Runner::OnSaveReply(const Save& save, const ReplyKind& reply, Seconds now, RunnerActions& actions) {
  const Point point = save.identity.point;
  if (const auto* saved = std::get_if<Saved>(&reply)) {
    const std::optional<Seconds> took = saves_.OnWritten(point.step, now);
    if (!took.has_value()) return actions.abandoned_files.push_back(save.path);
    actions.uploads.push_back({{.plan = order_.plan,
                                .point = point,
                                .lineage = save.identity.lineage,
                                .file = StoreName(order_.plan, point, order_.run),
                                .bytes = saved->bytes,
                                .state_sha256 = saved->state_sha256,
                                .time = *took},
                               save.path});
    return;
  }
  const auto* failure = std::get_if<Failure>(&reply);
  const std::string message = failure == nullptr ? kWrongKind : failure->message;
  actions.retire_worker = SaysUnusable(reply);
  if (failure != nullptr && failure->state_intact && !failure->worker_unusable)
    return LoseSave(point.step, message, actions);
  // The trainer could not give its state: it would fail there again.
  FailSave(RunFailed{failure == nullptr ? RunFailed::Kind::kTrainer : KindOf(*failure), point, message}, now, actions);
}

// A state that cannot be had ends its run, if it has not ended by itself meanwhile.
void Runner::FailSave(const RunFailed& fault, Seconds now, RunnerActions& actions) {
  is_whole_ = false;
  if (ended()) actions.reports.push_back(fault);
  if (on_slot() && !Is<Stopping>() && !Is<Dying>()) {
    actions.kill_worker = fault.kind == RunFailed::Kind::kCrash;
    Finish(fault, now, actions);
  }
  LoseSave(fault.point.step, fault.message, actions);
}

void Runner::OnFailure(const RequestKind& request, const Failure& failure, Seconds now, RunnerActions& actions) {
  const auto* starting = std::get_if<Starting>(&std::get<OnSlot>(state_).activity);
  const bool is_short = starting != nullptr && starting->beginning != Beginning::kInit;
  if (is_short && !failure.worker_unusable) return BeginAgain(now, actions);
  if (std::holds_alternative<Evaluate>(request)) return OnEvaluationFailed(failure, now, actions);
  const bool is_finished = failure.kind == FailureKind::kFinished && !failure.worker_unusable;
  if (std::holds_alternative<Train>(request) && is_finished) return OnFinished(failure, now, actions);
  const bool is_of_file = failure.kind == FailureKind::kCheckpoint && !failure.worker_unusable;
  if (std::holds_alternative<Load>(request) && is_of_file) {
    return OnLoadFailed(failure.message, now, actions);
  }
  Finish(FaultNow(KindOf(failure), failure.message), now, actions);
}

void Runner::OnEvaluationFailed(const Failure& failure, Seconds now, RunnerActions& actions) {
  const ReportKind fault = FaultNow(KindOf(failure), failure.message);
  if (!failure.state_intact || failure.worker_unusable) return Finish(fault, now, actions);
  actions.reports.push_back(fault);
  failed_evaluations_.emplace(reached_, KindOf(failure));
  ReportLost(actions);
  Advance(now, actions);
}

// Less than Init did not do: it is forgotten what stood there, and the run begins as if nothing had.
void Runner::BeginAgain(Seconds now, RunnerActions& actions) {
  auto& starting = std::get<Starting>(std::get<OnSlot>(state_).activity);
  starting.begin_again = true;
  if (!std::get<OnSlot>(state_).asked.empty()) return;
  is_whole_ = false;
  WaitAgain(starting.load_failed, now, actions);
}

void Runner::WaitAgain(bool load_failed, Seconds now, RunnerActions& actions) {
  LeaveSlot(now);
  state_ = Waiting{load_failed};
  actions.fetch_start = order_.start.has_value();
}

// The file was whole when it was fetched. It may be gone because the store is: that is found out, and the load tried
// once more, before the file is given up.
void Runner::OnLoadFailed(const std::string& why, Seconds now, RunnerActions& actions) {
  const bool load_failed = std::get<Starting>(std::get<OnSlot>(state_).activity).load_failed;
  if (load_failed && order_.start->of_other_code) {  // nothing is wrong with the file: it was read from end to end
    const std::string said = "the state that other code left, " + order_.start->file + ", cannot be loaded: " + why;
    return Finish(FaultNow(RunFailed::Kind::kTrainer, said), now, actions);
  }
  if (load_failed) return Finish(StartUnusable{order_.start->point, order_.start->file, why}, now, actions);
  WaitAgain(true, now, actions);
}

void Runner::OnStartUnusable(const std::string& why, Seconds now, RunnerActions& actions) {
  ESPALIER_CHECK(waiting());
  Finish(StartUnusable{order_.start->point, order_.start->file, why}, now, actions);
}

void Runner::Refuse(const std::string& why, Seconds now, RunnerActions& actions) {
  ESPALIER_CHECK(waiting());
  end_.refused = why;
  Finish(std::nullopt, now, actions);
}

void Runner::OnWorkerDied(const WorkerDeath& death, Seconds now, RunnerActions& actions) {
  if (auto* slot = std::get_if<OnSlot>(&state_)) {
    std::optional<ReportKind> fault;
    if (auto* dying = std::get_if<Dying>(&slot->activity)) {
      fault = std::move(dying->fault);
      if (fault.has_value()) AddLastWords(*fault, death.last_words);
    } else if (!Is<Stopping>()) {
      fault = FaultNow(KindOf(death.cause), death.last_words);
    }
    Finish(std::move(fault), now, actions);
  }
  for (const Step step : saves_.BeingWritten()) LoseSave(step, "the worker died while it wrote", actions);
}

void Runner::OnUploadRefused(Step step, const std::string& why, RunnerActions& actions) {
  LoseSave(step, why, actions);
}

void Runner::OnWrongFile(Step step, const std::string& why, Seconds now, RunnerActions& actions) {
  FailSave(RunFailed{RunFailed::Kind::kCrash, path_.PointAt(step), why}, now, actions);
}

// What was promised at a step that the run has reached is not withdrawn any more.
void Runner::TakeOver(const OrderTerms& terms, Seconds now, RunnerActions& actions) {
  // How often it saves follows what is measured, whatever is promised.
  if (terms.generation == order_.terms.generation) order_.terms.save_every = terms.save_every;
  if (terms.generation <= order_.terms.generation) return;
  std::vector<OrderedPromise> reached;
  for (const OrderedPromise& promise : order_.terms.promises) {
    const bool is_said_again =
        std::ranges::find(terms.promises, promise.id, &OrderedPromise::id) != terms.promises.end();
    const bool is_coming = saves_.IsUnderWay(promise.step) || (promise.step == reached_ && !saves_.Begun(reached_));
    if (promise.owed == Owed::kState && is_coming && !is_said_again) reached.push_back(promise);
  }
  order_.terms = terms;
  order_.terms.promises.insert(order_.terms.promises.end(), reached.begin(), reached.end());
  if (training_ended()) return;
  ReportLost(actions);
  if (!AnythingAhead()) return StopAtOnce(now, actions);
  if (terms.preempt) Preempt(now, actions);
}

void Runner::StopAtOnce(Seconds now, RunnerActions& actions) {
  if (waiting()) return Finish(std::nullopt, now, actions);
  if (!on_slot() || Is<Stopping>() || Is<Dying>()) return;
  if (Is<AwaitingRoom>()) return Finish(std::nullopt, now, actions);
  std::get<OnSlot>(state_).activity = Stopping{now + stop_patience_};
}

void Runner::Preempt(Seconds now, RunnerActions& actions) {
  preempted_ = true;
  if (waiting()) Finish(std::nullopt, now, actions);
}

std::optional<Seconds> Runner::LimitOf(Work work) const {
  switch (work) {
    case Work::kSetUp:
      return order_.terms.limits.set_up;
    case Work::kLoad:
      return order_.terms.limits.load;
    case Work::kTrain:
      return order_.terms.limits.train;
    case Work::kEvaluate:
      return order_.terms.limits.evaluate;
  }
  return std::nullopt;
}

void Runner::OnTick(Seconds now, bool worker_saves, RunnerActions& actions) {
  series_.Report(now, actions.reports);
  const TimeLimits& limits = order_.terms.limits;
  if (limits.save.has_value()) {
    const std::string why = "it was not written within " + WholeSeconds(*limits.save);
    for (const Step step : saves_.Overdue(*limits.save, now)) LoseSave(step, why, actions);
  }
  auto* slot = std::get_if<OnSlot>(&state_);
  if (slot == nullptr || Is<Dying>()) return;
  if (Is<AwaitingRoom>()) {
    slot->working_since = now;
    return Advance(now, actions);
  }
  const Seconds grace = worker_saves ? kSavePatience : Seconds(0);
  if (const auto* stopping = std::get_if<Stopping>(&slot->activity)) {
    if (now <= stopping->patience_ends + grace) return;
    slot->activity = Dying{};
    actions.kill_worker = true;
    return;
  }
  const std::optional<Seconds> limit = LimitOf(slot->asked.front());
  const Seconds silent = now - std::max(slot->working_since, slot->heard_at);
  if (!limit.has_value() || silent <= *limit + grace) return;
  ReportKind fault =
      FaultNow(RunFailed::Kind::kCrash, "no answer for " + WholeSeconds(silent) + ": the worker hung and was killed");
  slot->activity = Dying{std::move(fault)};
  actions.kill_worker = true;
}

// What fails in an evaluation fails that evaluation; a run that only evaluates does nothing else. A fault before the
// first step of the path belongs to that step: the start was trained by others.
ReportKind Runner::FaultNow(RunFailed::Kind kind, std::string message) const {
  if (path_.empty() || Is<Evaluating>()) {
    return EvaluationFailed{OfEvaluation(kind), path_.PointAt(reached_), order_.offer.evaluation_digest,
                            std::move(message)};
  }
  const Step step = Is<Starting>() ? reached_ + 1 : begun_;
  return RunFailed{kind, path_.PointAt(step), std::move(message)};
}

void Runner::LeaveSlot(Seconds now) {
  if (const auto* slot = std::get_if<OnSlot>(&state_)) end_.slot_time += now - slot->since;
}

void Runner::Finish(std::optional<ReportKind> fault, Seconds now, RunnerActions& actions) {
  LeaveSlot(now);
  if (std::exchange(goes_on_, false)) {  // with nobody to train for
    is_whole_ = false;
    actions.retire_worker = true;
  }
  state_ = Over{std::move(fault)};
  begun_ = reached_;
  actions.read_step_log = true;
}

void Runner::Close(RunnerActions& actions) {
  ESPALIER_CHECK(std::holds_alternative<Over>(state_));
  series_.ReportAll(actions.reports);
  std::optional<ReportKind>& fault = std::get<Over>(state_).fault;
  if (fault.has_value()) actions.reports.push_back(std::move(*fault));
  end_.step = reached_;
  end_.saves_under_way = saves_.UnderWay();
  actions.reports.push_back(end_);
  state_ = Ended{};
}

// Before RunEnded, which says so of all that is not under way, only of what was promised; after it, of each that it
// named.
void Runner::LoseSave(Step step, const std::string& why, RunnerActions& actions) {
  const std::optional<std::string> staged = saves_.Lose(step);
  if (!staged.has_value()) return;
  actions.abandoned_files.push_back(*staged);
  if (std::holds_alternative<Over>(state_)) return;
  bool was_promised = false;
  for (const OrderedPromise& promise : order_.terms.promises) {
    if (promise.owed != Owed::kState || promise.step != step) continue;
    was_promised = true;
    if (lost_.insert(promise.id).second) actions.reports.push_back(PromiseLost{promise.id, step, why});
  }
  if (ended() && !was_promised) actions.reports.push_back(PromiseLost{PromiseId{}, step, why});
}

void Runner::ReportLost(RunnerActions& actions) {
  for (const OrderedPromise& promise : order_.terms.promises) {
    const std::optional<std::string> why = WhyLost(promise);
    if (!why.has_value() || !lost_.insert(promise.id).second) continue;
    actions.reports.push_back(PromiseLost{promise.id, promise.step, *why});
  }
}

}  // namespace espalier::node
