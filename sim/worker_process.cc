#include "sim/worker_process.h"

#include <cstdio>
#include <limits>

#include "base/check.h"
#include "scheduler/deadline_rules.h"
#include "sim/learning_curves.h"

namespace espalier::sim {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;  // clang 14 needs it

}  // namespace

std::size_t WorkerProcess::PlaceOf(const worker::Init& init) const {
  for (std::size_t i = 0; i < offers_.size(); ++i) {
    if (offers_[i].trainer == init.trainer && offers_[i].data == init.data) return i;
  }
  return at_;
}

Result<Metrics> WorkerProcess::Measure() const {
  Metrics measured;
  if (recorded() != nullptr) {
    ESPALIER_ASSIGN(const Metrics all, recorded()->MetricsAt(state_, step_));
    for (const std::string& name : offer().metrics) {
      const auto found = all.find(name);
      measured[name] = found == all.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
    }
    return measured;
  }
  for (const std::string& name : offer().metrics) {
    measured[name] = FormulaScore(state_, step_);
    if (measures_ == nullptr) continue;
    if (measures_->score) measured[name] = measures_->score(values_, step_);
    if (!measures_->tables.contains(name)) continue;
    ESPALIER_ASSIGN(measured[name], measures_->tables.at(name).At(values_, step_));
  }
  return measured;
}

std::uint64_t WorkerProcess::NextState() const {
  if (recorded() != nullptr) return RecordedTrainings::StateAfterStep(state_, values_);
  if (!IsFormula(offer())) return StateAfterStep(state_, values_);
  return FormulaStateAfterStep(state_, values_, measures_ == nullptr ? 0 : measures_->seed);
}

std::optional<Seconds> WorkerProcess::RecordedDurationOf(const worker::RequestKind& request, World& world) const {
  using Time = std::optional<Seconds>;
  const auto at = [&](CostKind kind, std::uint64_t state, Step step) {
    return recorded()->TimeAt(kind, name_, state, step, values_);
  };
  return std::visit(
      Overloaded{[&](const worker::Init& init) -> Time {
                   return recorded()->TimeToBegin(CostKind::kSetUp, {init.trainer, init.data, init.step});
                 },
                 [&](const worker::Load&) -> Time { return recorded()->TimeToBegin(CostKind::kLoad, name_); },
                 [&](const worker::Train& train) -> Time {
                   const std::uint64_t state = NextState();
                   if (!recorded()->WasTrained(state, train.step)) ++world.estimated.steps;
                   return at(CostKind::kStep, state, train.step);
                 },
                 [&](const worker::Evaluate&) -> Time {
                   if (!recorded()->WasEvaluated(state_, step_)) ++world.estimated.evaluations;
                   return at(CostKind::kEvaluate, state_, step_);
                 },
                 [&](const worker::Save&) -> Time { return at(CostKind::kSave, state_, step_); },
                 [](const worker::Describe&) -> Time { return std::nullopt; },
                 [](const worker::Setup&) -> Time { return Seconds{0}; },  // in what comes before or after it
                 [](const worker::Proceed&) -> Time { return Seconds{0}; }},
      request);
}

Seconds WorkerProcess::DurationOf(const worker::RequestKind& request, World& world, double speed) const {
  if (const auto said = world.speeds.find(offer().trainer); said != world.speeds.end()) {
    speed *= SpeedOn(slots_, said->second);
  }
  const Durations& durations = world.durations;
  if (recorded() != nullptr) {
    const std::optional<Seconds> time = RecordedDurationOf(request, world);
    const bool depends_on_speed =
        std::holds_alternative<worker::Train>(request) || std::holds_alternative<worker::Evaluate>(request);
    if (time) return depends_on_speed ? *time / speed : *time;
  }
  const Seconds typical = std::visit(Overloaded{[&](const worker::Describe&) { return durations.start_worker; },
                                                [&](const worker::Init&) { return durations.set_up; },
                                                [&](const worker::Setup&) { return durations.set_up * 0.1; },
                                                [&](const worker::Train&) {
                                                  const auto demand = DemandNow();
                                                  return (demand ? demand->step : durations.train) / speed;
                                                },
                                                [&](const worker::Evaluate&) { return durations.evaluate / speed; },
                                                [&](const worker::Save&) { return durations.save; },
                                                [&](const worker::Proceed&) { return durations.set_up * 0.1; },
                                                [&](const worker::Load&) { return durations.load; }},
                                     request);
  if (recorded() != nullptr || !durations.vary) return typical;
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

std::optional<StepDemand> WorkerProcess::DemandNow() const {
  if (measures_ == nullptr || !measures_->demands || hangs || asked.empty()) return std::nullopt;
  if (!std::holds_alternative<worker::Train>(asked.front().kind)) return std::nullopt;
  const Result<StepDemand> demand = measures_->demands(values_);
  return demand.has_value() ? std::optional(*demand) : std::nullopt;
}

bool WorkerProcess::DiesOf(const worker::RequestKind& request) const {
  if (std::holds_alternative<worker::Evaluate>(request))
    return !IsFormula(offer()) && Evaluate(state_, offer().evaluation_digest).crashes;
  if (!std::holds_alternative<worker::Train>(request)) return false;
  return FateHere(StateAfterStep(state_, values_)) == StepFate::kCrashes;
}

StepFate WorkerProcess::FateHere(std::uint64_t state) const {
  return IsFormula(offer()) ? StepFate::kGoesOn : FateOf(state, values_);
}

WorkerProcess::Work WorkerProcess::WorkAsked(const CheckpointFiles& files) const {
  Work work{run_, state_};
  for (const worker::WorkerRequest& request : asked) {
    if (const auto* init = std::get_if<worker::Init>(&request.kind)) {
      work = {init->run, StateAfterInit(offers_[PlaceOf(*init)], init->values)};
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

// All can proceed, and every second one load after steps, as do those that train what is recorded.
worker::ReplyKind WorkerProcess::Do(const worker::Describe&) {
  worker::Description description{1, "simulated", offers_, {worker::capability::kProceed}};
  if (number_ % 2 == 0 || recorded() != nullptr) description.capabilities.push_back(worker::capability::kReload);
  return description;
}

worker::ReplyKind WorkerProcess::Do(const worker::Proceed& proceed) {
  run_ = proceed.run;
  return worker::Done{};
}

worker::ReplyKind WorkerProcess::Do(const worker::Init& init) {
  run_ = init.run;
  values_.clear();
  at_ = PlaceOf(init);
  name_ = {init.trainer, init.data, init.step};
  state_ = recorded() == nullptr ? StateAfterInit(offer(), init.values) : RecordedTrainings::StateAfterInit(name_);
  step_ = Step{0};
  return worker::Done{};
}

worker::ReplyKind WorkerProcess::Do(const worker::Setup& setup) {
  for (const auto& [name, value] : setup.values) values_[name] = value;
  return worker::Done{};
}

worker::ReplyKind WorkerProcess::Do(const worker::Train& train, Disk& disk, std::optional<TrainedStep>& trained) {
  const std::uint64_t before = state_;
  const std::uint64_t after = NextState();
  const StepFate fate = FateHere(after);
  if (fate == StepFate::kRaises)
    return worker::Failure{worker::FailureKind::kTrainer, "the learning rate is 0.7", false};
  if (fate == StepFate::kFinishes) {
    trained = TrainedStep{run_, train.step, before, after, /*is_finished=*/true};
    return worker::Failure{worker::FailureKind::kFinished, "enough", after % 24 == 0};
  }
  if (!IsFormula(offer()) && SlotsNeeded(after, values_) > slots_) {
    return worker::Failure{worker::FailureKind::kOutOfMemory, "the step takes more memory", false};
  }
  if (train.step != step_ + 1) return worker::Failure{worker::FailureKind::kRequest, "not the next step", false};
  const bool are_said = measures_ != nullptr && measures_->demands;
  const Result<StepDemand> demand = are_said ? measures_->demands(values_) : StepDemand{};
  if (!demand.has_value()) return worker::Failure{worker::FailureKind::kTrainer, demand.error().message, true};
  state_ = after;
  step_ = train.step;
  trained = TrainedStep{run_, step_, before, after};
  disk.step_logs[run_] +=
      std::to_string(run_.run.value) + " " + std::to_string(step_.value) + " " + std::to_string(takes.count()) + "\n";
  Metrics returned{{"samples", 10.0}};
  const std::optional<double> loss =
      fate == StepFate::kDiverges ? std::numeric_limits<double>::quiet_NaN() : LossHere();
  if (loss) returned["loss"] = *loss;
  worker::Trained answer{std::move(returned), takes};
  answer.peak_device_bytes = demand->memory_bytes;
  return answer;
}

std::optional<double> WorkerProcess::LossHere() const {
  if (!IsFormula(offer())) return LossOf(state_);
  if (measures_ == nullptr || !measures_->losses) return 1 - FormulaScore(state_, step_);
  const Result<double> loss = measures_->losses->At(values_, step_);
  return loss.has_value() ? std::optional(*loss) : std::nullopt;
}

worker::ReplyKind WorkerProcess::Do(const worker::Evaluate&) {
  if (IsFormula(offer())) {
    Result<Metrics> measured = Measure();
    if (!measured.has_value()) return worker::Failure{worker::FailureKind::kTrainer, measured.error().message, true};
    return worker::Evaluated{*std::move(measured), takes};
  }
  const EvaluationFate fate = Evaluate(state_, offer().evaluation_digest);
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
