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

Seconds WorkerProcess::DurationOf(const worker::RequestKind& request, World& world) const {
  const Durations& durations = world.durations;
  const Seconds typical = std::visit(Overloaded{[&](const worker::Describe&) { return durations.start_worker; },
                                                [&](const worker::Init&) { return durations.set_up; },
                                                [&](const worker::Setup&) { return durations.set_up * 0.1; },
                                                [&](const worker::Train&) { return durations.train; },
                                                [&](const worker::Evaluate&) { return durations.evaluate; },
                                                [&](const worker::Save&) { return durations.save; },
                                                [&](const worker::Proceed&) { return durations.set_up * 0.1; },
                                                [&](const worker::Load&) { return durations.load; }},
                                     request);
  return world.chance.About(typical);
}

worker::ReplyKind WorkerProcess::Answer(const worker::RequestKind& request, Disk& disk, const CheckpointFiles& files,
                                        std::optional<TrainedStep>& trained) {
  return std::visit(Overloaded{[&](const worker::Train& train) { return Do(train, disk, trained); },
                               [&](const worker::Load& load) { return Do(load, files); },
                               [&](const worker::Save&) -> worker::ReplyKind {
                                 ESPALIER_CHECK(false) << "a save is no request of this kind";
                                 return worker::Done{};
                               },
                               [&](const auto& other) { return Do(other); }},
                    request);
}

bool WorkerProcess::DiesOf(const worker::RequestKind& request) const {
  if (std::holds_alternative<worker::Evaluate>(request))
    return !IsFormula(offer_) && Evaluate(state_, offer_.evaluation_digest).crashes;
  if (!std::holds_alternative<worker::Train>(request)) return false;
  return FateHere(StateAfterStep(state_, values_)) == StepFate::kCrashes;
}

StepFate WorkerProcess::FateHere(std::uint64_t state) const {
  return IsFormula(offer_) ? StepFate::kGoesOn : FateOf(state, values_);
}

WorkerProcess::Work WorkerProcess::WorkAsked(const CheckpointFiles& files) const {
  Work work{run_, state_};
  for (const worker::WorkerRequest& request : asked) {
    if (const auto* init = std::get_if<worker::Init>(&request.kind)) {
      work = {init->run, StateAfterInit(offer_, init->values)};
    }
    if (const auto* proceed = std::get_if<worker::Proceed>(&request.kind)) work.run = proceed->run;
    if (const auto* load = std::get_if<worker::Load>(&request.kind)) {
      if (const Result<StateFile> file = files.Fetch(load->path); file.has_value()) work.state = file->state;
    }
  }
  return work;
}

StateFile WorkerProcess::Snapshot(const worker::CheckpointIdentity& identity) const {
  return {.identity = identity, .state = state_, .step = step_};
}

// All can proceed, and every second one load after steps.
worker::ReplyKind WorkerProcess::Do(const worker::Describe&) {
  worker::Description description{1, "simulated", {offer_}, {worker::capability::kProceed}};
  if (number_ % 2 == 0) description.capabilities.push_back(worker::capability::kReload);
  return description;
}

worker::ReplyKind WorkerProcess::Do(const worker::Proceed& proceed) {
  run_ = proceed.run;
  return worker::Done{};
}

worker::ReplyKind WorkerProcess::Do(const worker::Init& init) {
  run_ = init.run;
  values_.clear();
  state_ = StateAfterInit(offer_, init.values);
  step_ = Step{0};
  return worker::Done{};
}

worker::ReplyKind WorkerProcess::Do(const worker::Setup& setup) {
  for (const auto& [name, value] : setup.values) values_[name] = value;
  return worker::Done{};
}

worker::ReplyKind WorkerProcess::Do(const worker::Train& train, Disk& disk, std::optional<TrainedStep>& trained) {
  const std::uint64_t before = state_;
  const std::uint64_t after =
      IsFormula(offer_) ? FormulaStateAfterStep(state_, values_) : StateAfterStep(state_, values_);
  const StepFate fate = FateHere(after);
  if (fate == StepFate::kRaises)
    return worker::Failure{worker::FailureKind::kTrainer, "the learning rate is 0.7", false};
  if (fate == StepFate::kFinishes) {
    trained = TrainedStep{run_, train.step, before, after, /*is_finished=*/true};
    return worker::Failure{worker::FailureKind::kFinished, "enough", after % 24 == 0};
  }
  if (!IsFormula(offer_) && SlotsNeeded(after, values_) > slots_) {
    return worker::Failure{worker::FailureKind::kOutOfMemory, "the step takes more memory", false};
  }
  if (train.step != step_ + 1) return worker::Failure{worker::FailureKind::kRequest, "not the next step", false};
  state_ = after;
  step_ = train.step;
  trained = TrainedStep{run_, step_, before, after};
  disk.step_logs[run_] +=
      std::to_string(run_.run.value) + " " + std::to_string(step_.value) + " " + std::to_string(takes.count()) + "\n";
  const double loss = fate == StepFate::kDiverges ? std::numeric_limits<double>::quiet_NaN() : LossOf(after);
  return worker::Trained{{{"loss", loss}, {"samples", 10.0}}, takes};
}

worker::ReplyKind WorkerProcess::Do(const worker::Evaluate&) {
  if (IsFormula(offer_)) {
    const Result<double> score = curves_ == nullptr ? FormulaScore(state_, step_) : curves_->At(values_, step_);
    if (!score.has_value()) return worker::Failure{worker::FailureKind::kTrainer, score.error().message, true};
    return worker::Evaluated{{{offer_.metrics.front(), *score}}, takes};
  }
  const EvaluationFate fate = Evaluate(state_, offer_.evaluation_digest);
  if (!fate.raises) return worker::Evaluated{{{"score", fate.score}}, takes};
  return worker::Failure{worker::FailureKind::kTrainer, "this state cannot be evaluated", fate.state_intact};
}

worker::ReplyKind WorkerProcess::Do(const worker::Load& load, const CheckpointFiles& files) {
  const Result<StateFile> file = files.Fetch(load.path);
  if (!file.has_value()) return worker::Failure{worker::FailureKind::kCheckpoint, file.error().message, false};
  state_ = file->state;
  step_ = file->step;
  return worker::Done{};
}

}  // namespace espalier::sim
