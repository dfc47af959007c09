#include "worker/trainer/training.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "worker/checkpoint/checkpoint_format.h"
#include "worker/trainer/torch_random.h"

namespace espalier::trainer {
namespace {

const std::string kStepName = "training.step";
const std::string kIdentityName = "training.identity";

std::string Print(const HyperParameterValue& value) {
  struct Printer {
    std::string operator()(bool boolean) const { return boolean ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double floating) const {
      std::array<char, 32> text{};
      return {text.data(), std::to_chars(text.data(), text.data() + text.size(), floating).ptr};
    }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Printer{}, value);
}

std::string IdentityOf(const TrainerKind& kind, const TrainingRequest& request) {
  std::string identity = kind.name + "\n" + kind.code_digest + "\n" + kind.data + "\n" + kind.data_digest + "\n" +
                         std::to_string(request.step.updates) + "\n";
  for (const DeclaredHyperParameter& declared : kind.hyper_parameters) {
    if (declared.initial) identity += declared.name + "=" + Print(request.values.at(declared.name)) + "\n";
  }
  return identity;
}

// Which values a request may give.
enum class Given { kAtInit, kSequences };

// Values must be of declared hyper-parameters, of the declared type; initial ones are given at Init alone.
Outcome<void> CheckValues(const TrainerKind& kind, const HyperParameterValues& values, Given given) {
  for (const auto& [name, value] : values) {
    const auto it = std::ranges::find(kind.hyper_parameters, name, &DeclaredHyperParameter::name);
    if (it == kind.hyper_parameters.end() && kind.takes_any) continue;
    if (it == kind.hyper_parameters.end()) {
      return MakeFailure(FailureKind::kRequest, name + ": the trainer " + kind.name + " has no such hyper-parameter");
    }
    if (it->initial && given == Given::kSequences) {
      return MakeFailure(FailureKind::kRequest, name + ": is initial, given as a sequence");
    }
    if (value.index() != it->default_value.index()) {
      return MakeFailure(FailureKind::kRequest, name + ": expected " + std::string(Name(TypeOf(it->default_value))) +
                                                    ", got " + std::string(Name(TypeOf(value))));
    }
  }
  return {};
}

// As CheckValues, and none may be missing.
Outcome<void> CheckAllValues(const TrainerKind& kind, const HyperParameterValues& values, Given given) {
  for (const DeclaredHyperParameter& declared : kind.hyper_parameters) {
    if (!(declared.initial && given == Given::kSequences) && !values.contains(declared.name)) {
      return MakeFailure(FailureKind::kRequest, declared.name + ": the value is missing");
    }
  }
  return CheckValues(kind, values, given);
}

}  // namespace

template <class Call>
auto Training::Guarded(Call call, FailureKind otherwise) -> Outcome<decltype(call())> {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (...) {
    return tl::unexpected<Failure>(FailureOf(std::current_exception(), otherwise));
  }
}

Training::Training(const TrainerKind& kind, const TrainingRequest& request)
    : kind_(&kind), identity_(IdentityOf(kind, request)) {}

Outcome<Training> Training::Begin(const std::vector<TrainerKind>& kinds, const TrainingRequest& request) {
  const auto kind = std::ranges::find_if(
      kinds, [&](const TrainerKind& each) { return each.name == request.trainer && each.data == request.data; });
  if (kind == kinds.end()) {
    return MakeFailure(FailureKind::kRequest,
                       "there is no trainer '" + request.trainer + "' for the data '" + request.data + "'");
  }
  if (request.step.updates < 0) return MakeFailure(FailureKind::kRequest, "a step of less than one update");
  if (const auto checked = CheckAllValues(*kind, request.values, Given::kAtInit); !checked) {
    return tl::unexpected(checked.error());
  }
  Training training(*kind, request);
  if (const auto opened = training.BeginRun(request.run_id, request.step_log); !opened) {
    return tl::unexpected(opened.error());
  }
  const auto begun = training.Guarded([&] {
    training.trainer_ = kind->make(request.step);
    training.trainer_->Init(request.values);
  });
  if (!begun) return tl::unexpected(begun.error());
  return training;
}

Outcome<void> Training::BeginRun(std::int64_t run_id, const std::string& path) {
  if (run_id == 0) return MakeFailure(FailureKind::kRequest, "the run's id is missing");
  peak_memory_.Forget();
  const auto opened = step_log_.Begin(path, RunId{run_id});
  if (!opened.has_value()) return MakeFailure(FailureKind::kRequest, opened.error().message);
  return {};
}

Outcome<void> Training::Proceed(std::int64_t run_id, const std::string& step_log) {
  if (const auto checked = CheckSetUp("Proceed"); !checked) return tl::unexpected(checked.error());
  return BeginRun(run_id, step_log);
}

Outcome<void> Training::Setup(const HyperParameterValues& values) {
  const auto checked =
      set_up_ ? CheckValues(*kind_, values, Given::kSequences) : CheckAllValues(*kind_, values, Given::kSequences);
  if (!checked) return tl::unexpected(checked.error());
  set_up_ = true;
  return Guarded([&] { trainer_->Setup(values); });
}

Outcome<void> Training::CheckSetUp(const char* request) const {
  if (set_up_) return {};
  return MakeFailure(FailureKind::kRequest, std::string(request) + " came before Setup");
}

Outcome<Measured> Training::Train(std::int64_t step) {
  if (const auto checked = CheckSetUp("Train"); !checked) return tl::unexpected(checked.error());
  if (step != step_ + 1) {
    return MakeFailure(FailureKind::kRequest,
                       "Train to step " + std::to_string(step) + " came at step " + std::to_string(step_));
  }
  const Seconds begin = MonotonicNow();
  auto metrics = Guarded([&] { return trainer_->Train(); });
  if (!metrics) return tl::unexpected(metrics.error());
  step_ = step;
  const Seconds end = MonotonicNow();
  const double seconds = (end - begin).count();
  if (const auto said = step_log_.Append(Step{step}, Seconds(seconds)); !said) {
    Log(LogLevel::kWarning, said.error().message);
  }
  ESPALIER_FAILPOINT("worker.train.after");
  return Measured{std::move(*metrics), seconds, peak_memory_.Bytes(end)};
}

Outcome<Measured> Training::Evaluate() {
  if (const auto checked = CheckSetUp("Evaluate"); !checked) return tl::unexpected(checked.error());
  const Seconds begin = MonotonicNow();
  const Outcome<State> generators = Guarded(TakeRandomGenerators);
  if (!generators) return tl::unexpected(generators.error());
  Outcome<Metrics> metrics = Guarded([&] { return trainer_->Evaluate(); });
  const Outcome<void> put_back = Guarded([&] { PutBackRandomGenerators(*generators); });
  if (!metrics) {
    Failure failure = metrics.error();
    failure.state_intact = failure.kind == FailureKind::kTrainer && !failure.of_library && put_back;
    return tl::unexpected(std::move(failure));
  }
  if (!put_back) return tl::unexpected(put_back.error());
  return Measured{std::move(*metrics), (MonotonicNow() - begin).count()};
}

Outcome<State> Training::Save(std::int64_t step) {
  if (const auto checked = CheckSetUp("Save"); !checked) return tl::unexpected(checked.error());
  if (step != step_) {
    return MakeFailure(FailureKind::kRequest,
                       "Save of step " + std::to_string(step) + " came at step " + std::to_string(step_));
  }
  return Guarded([&] {
    State state = trainer_->Save();
    state[kStepName] = WholeNumber(step_);
    state[kIdentityName] = Text(identity_);
    return state;
  });
}

Outcome<void> Training::Load(const std::filesystem::path& path, bool of_other_code) {
  if (const auto checked = CheckSetUp("Load"); !checked) return tl::unexpected(checked.error());
  const Result<CheckpointFile> file = ReadCheckpointFile(path);
  if (!file.has_value()) return MakeFailure(FailureKind::kCheckpoint, file.error().message);
  const State& state = file->state;
  return Guarded(
      [&] {
        const bool is_own = At(state, kIdentityName) == Text(identity_);
        if (!is_own && !of_other_code) throw std::runtime_error("it is of another training");
        trainer_->Load(state);
        step_ = ReadWholeNumber(state, kStepName);
      },
      FailureKind::kCheckpoint);
}

}  // namespace espalier::trainer
