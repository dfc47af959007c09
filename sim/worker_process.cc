#include "sim/worker_process.h"

#include <cstdio>
#include <limits>

#include "base/check.h"
#include "sim/learning_curves.h"

namespace espalier::sim {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

Seconds WorkerProcess::DurationOf(const node::RequestKind& request, World& world) const {
  const Durations& durations = world.durations;
  const Seconds typical = std::visit(
      Overloaded{[&](const node::Describe&) { return durations.start_worker; },
                 [&](const node::Init&) { return durations.set_up; },
                 [&](const node::Setup&) { return durations.set_up * 0.1; },
                 [&](const node::Train&) { return durations.train; },
                 [&](const node::Evaluate&) { return durations.evaluate; },
                 [&](const node::Save&) { return durations.save; }, [&](const node::Load&) { return durations.load; }},
      request);
  return world.chance.About(typical);
}

node::ReplyKind WorkerProcess::Answer(const node::RequestKind& request, Disk& disk, const CheckpointFiles& files,
                                      std::optional<TrainedStep>& trained) {
  return std::visit(Overloaded{[&](const node::Train& train) { return Do(train, disk, trained); },
                               [&](const node::Load& load) { return Do(load, files); },
                               [&](const node::Save&) -> node::ReplyKind {
                                 ESPALIER_CHECK(false) << "a save is no request of this kind";
                                 return node::Done{};
                               },
                               [&](const auto& other) { return Do(other); }},
                    request);
}

bool WorkerProcess::DiesOf(const node::RequestKind& request) const {
  if (std::holds_alternative<node::Evaluate>(request))
    return !IsFormula(offer_) && Evaluate(state_, offer_.evaluation_digest).crashes;
  if (!std::holds_alternative<node::Train>(request)) return false;
  return FateHere(StateAfterStep(state_, values_)) == StepFate::kCrashes;
}

StepFate WorkerProcess::FateHere(std::uint64_t state) const {
  return IsFormula(offer_) ? StepFate::kGoesOn : FateOf(state, values_);
}

WorkerProcess::Work WorkerProcess::WorkAsked(const CheckpointFiles& files) const {
  Work work{run_, state_};
  for (const node::WorkerRequest& request : asked) {
    if (const auto* init = std::get_if<node::Init>(&request.kind)) {
      work = {init->run, StateAfterInit(offer_, init->values)};
    }
    if (const auto* load = std::get_if<node::Load>(&request.kind)) {
      if (const Result<StateFile> file = files.Fetch(load->path); file.has_value()) work.state = file->state;
    }
  }
  return work;
}

StateFile WorkerProcess::Snapshot(const node::CheckpointIdentity& identity) const {
  return {.identity = identity, .state = state_, .step = step_};
}

node::ReplyKind WorkerProcess::Do(const node::Describe&) { return node::Description{1, "simulated", {offer_}}; }

node::ReplyKind WorkerProcess::Do(const node::Init& init) {
  run_ = init.run;
  values_.clear();
  state_ = StateAfterInit(offer_, init.values);
  step_ = Step{0};
  return node::Done{};
}

node::ReplyKind WorkerProcess::Do(const node::Setup& setup) {
  for (const auto& [name, value] : setup.values) values_[name] = value;
  return node::Done{};
}

node::ReplyKind WorkerProcess::Do(const node::Train& train, Disk& disk, std::optional<TrainedStep>& trained) {
  const std::uint64_t before = state_;
  const std::uint64_t after = StateAfterStep(state_, values_);
  const StepFate fate = FateHere(after);
  if (fate == StepFate::kRaises) return node::Failure{node::FailureKind::kTrainer, "the learning rate is 0.7", false};
  if (train.step != step_ + 1) return node::Failure{node::FailureKind::kRequest, "not the next step", false};
  state_ = after;
  step_ = train.step;
  trained = TrainedStep{run_, step_, before, after};
  disk.step_logs[run_] +=
      std::to_string(run_.run.value) + " " + std::to_string(step_.value) + " " + std::to_string(takes.count()) + "\n";
  const double loss = fate == StepFate::kDiverges ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  return node::Trained{{{"loss", loss}, {"samples", 10.0}}, takes};
}

node::ReplyKind WorkerProcess::Do(const node::Evaluate&) {
  if (IsFormula(offer_)) {
    const Result<double> score = curves_ == nullptr ? FormulaScore(values_, step_) : curves_->At(values_, step_);
    if (!score.has_value()) return node::Failure{node::FailureKind::kTrainer, score.error().message, true};
    return node::Evaluated{{{offer_.metrics.front(), *score}}, takes};
  }
  const EvaluationFate fate = Evaluate(state_, offer_.evaluation_digest);
  if (!fate.raises) return node::Evaluated{{{"score", fate.score}}, takes};
  return node::Failure{node::FailureKind::kTrainer, "this state cannot be evaluated", fate.state_intact};
}

node::ReplyKind WorkerProcess::Do(const node::Load& load, const CheckpointFiles& files) {
  const Result<StateFile> file = files.Fetch(load.path);
  if (!file.has_value()) return node::Failure{node::FailureKind::kCheckpoint, file.error().message, false};
  state_ = file->state;
  step_ = file->step;
  return node::Done{};
}

}  // namespace espalier::sim
