// The runner's steps: how far the worker is to train, and what follows when it has trained one.
#include <algorithm>

#include "worker/node/core/run_faults.h"
#include "worker/node/core/runner.h"

namespace espalier::node {
namespace {

// What changes on the way has to fit into a message.
constexpr std::int64_t kStretchMax = 1000;

}  // namespace

void Runner::BeginStep(Seconds now, RunnerActions& actions) {
  OnSlot& slot = std::get<OnSlot>(state_);
  const Values values = path_.SequenceValues(reached_);
  Values changed = Changed(values, in_force_);
  set_up_for_step_ = !changed.empty();
  if (set_up_for_step_) {
    actions.requests.push_back(Setup{std::move(changed)});
    slot.asked.push_back(Work::kSetUp);
  }
  Train train{reached_ + 1};
  if (trains_stretches_) {
    train.until = NextStop(now);
    if (!goes_on_) {
      train.ahead = path_.ChangesBetween(train.step, train.until);
      stretch_end_ = train.until;
    }
  }
  actions.requests.push_back(std::move(train));
  slot.asked.push_back(Work::kTrain);
  in_force_ = values;
  begun_ = reached_ + 1;
  slot.activity = Training{};
}

// The next step at which there is something to do besides training, as far as it is known now.
Step Runner::NextStop(Seconds now) const {
  const Step next = reached_ + 1;
  if (preempted_ || (goes_on_ && SaveIsDue(now))) return next;
  Step stop = std::min(End(), reached_ + kStretchMax);
  for (const OrderedPromise& promise : order_.terms.promises) {
    if (IsAhead(promise) && promise.step > reached_) stop = std::min(stop, promise.step);
  }
  for (const std::int64_t period : order_.terms.evaluate_every) {
    if (period > 0) stop = std::min(stop, Step{(reached_.value / period + 1) * period});
  }
  return stop;
}

// Of the stage that trains the step.
StageUse& Runner::UseAt(Step step) {
  const PlanNodeId node = path_.PointAt(step).node;
  const auto known = std::ranges::find(end_.stages, node, &StageUse::node);
  return known == end_.stages.end() ? end_.stages.emplace_back(StageUse{.node = node}) : *known;
}

void Runner::OnGpuSeen(const GpuUse& use, bool has_all) {
  if (!Is<Training>()) return;
  StageUse& stage = UseAt(begun_);
  ++stage.looks;
  stage.utilization += use.utilization;
  if (has_all) stage.device_bytes = std::max(stage.device_bytes, use.memory_bytes);
}

void Runner::TakeTrained(Step step, const Trained& trained, Seconds now) {
  reached_ = step;
  StageUse& stage = UseAt(step);
  stage.process_bytes = std::max(stage.process_bytes, trained.peak_bytes);
  stage.device_bytes = std::max(stage.device_bytes, trained.peak_device_bytes);
  series_.Add(order_.plan, path_.PointAt(step), path_.LineageAt(step), trained.metrics, now);
}

void Runner::OnTrained(Step step, const Trained& trained, Seconds now, RunnerActions& actions) {
  TakeTrained(step, trained, now);
  series_.Report(now, actions.reports);
  if (AllFinite(trained.metrics)) return Advance(now, actions);
  Finish(FaultNow(RunFailed::Kind::kDiverged, DescribeNotFinite(trained.metrics)), now, actions);
}

// What is under way is waited for, so that it is in the step log; it brings no failure that anybody cares for.
void Runner::OnReplyWhileStopping(const RequestKind& request, const ReplyKind& reply, Seconds now,
                                  RunnerActions& actions) {
  TakeIfTrained(request, reply, now);
  const auto* evaluated = std::get_if<Evaluated>(&reply);
  if (evaluated != nullptr && !evaluated->metrics.empty()) ReportMetrics(*evaluated, actions);
  if (std::get<OnSlot>(state_).asked.empty()) Finish(std::nullopt, now, actions);
}

// A step that is done though nobody waits for it is in the step log, so what it returned counts, too.
void Runner::TakeIfTrained(const RequestKind& request, const ReplyKind& reply, Seconds now) {
  const auto* train = std::get_if<Train>(&request);
  const auto* trained = std::get_if<Trained>(&reply);
  if (train != nullptr && trained != nullptr) TakeTrained(train->step, *trained, now);
}

// The step that was asked for will never be.
void Runner::OnFinished(const Failure& failure, Seconds now, RunnerActions& actions) {
  if (reached_ == Step{0}) {
    const std::string why = "training was finished before its first step: " + failure.message;
    return Finish(FaultNow(RunFailed::Kind::kTrainer, why), now, actions);
  }
  finished_ = RunFailed{RunFailed::Kind::kFinished, path_.PointAt(begun_), failure.message};
  is_whole_ = failure.state_intact && !set_up_for_step_ && !trains_stretches_;
  begun_ = reached_;
  if (is_whole_) return Advance(now, actions);
  reached_ = begun_ = path_.start();
  WaitAgain(false, now, actions);
}

// That it has, once it is known what it came to; else another run finds it out.
std::optional<ReportKind> Runner::HowItFinished() const {
  const auto failed = failed_evaluations_.find(reached_);
  const bool is_known = measured_.contains(reached_) || IsBarred(reached_);
  const bool may_be_measured = failed != failed_evaluations_.end() && failed->second != RunFailed::Kind::kTrainer;
  return is_known && !may_be_measured ? std::optional<ReportKind>(*finished_) : std::nullopt;
}

// Past a step at which the worker does not stand.
void Runner::GoOn(Seconds now, RunnerActions& actions) {
  if (reached_ >= End()) return Finish(std::nullopt, now, actions);
  BeginStep(now, actions);
  ReportLost(actions);
}

}  // namespace espalier::node
