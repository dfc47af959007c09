#include "client/tuners/registry.h"

#include <algorithm>

#include "client/tuners/asynchronous_halving.h"
#include "client/tuners/early_stop.h"
#include "client/tuners/grid.h"
#include "client/tuners/hyperband.h"
#include "client/tuners/learning.h"
#include "client/tuners/median_stopping.h"
#include "client/tuners/population.h"
#include "client/tuners/random.h"
#include "client/tuners/successive_halving.h"
#include "client/tuners/tpe.h"
#include "client/tuners/tpe_sampler.h"

namespace espalier::tuners {
namespace {

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsNumber(const Value& value) {
  return TypeOf(value) == ValueType::kInteger || TypeOf(value) == ValueType::kFloating;
}

std::string Shown(const Option& option) {
  const Value* const value = std::get_if<Value>(&option);
  return value == nullptr ? "a mapping" : Print(*value);
}

Result<void> CheckOptionNames(const TunerKind& kind, const Options& options) {
  for (const auto& [name, value] : options) {
    if (Contains(kind.option_names, name)) continue;
    return MakeError(ErrorCode::kInvalidArgument,
                     "unknown option of " + kind.name + "; expected one of: " + Joined(kind.option_names), name);
  }
  return {};
}

// By what is known of the trials before.
Result<std::unique_ptr<Tuner>> WithSampler(const TunerKind& kind, std::unique_ptr<Tuner> tuner, const Trials& trials) {
  if (kind.starting == Starting::kOneByOne) {
    return MakeLearning(std::move(tuner), std::make_unique<TpeSampler>(trials.space, trials.sampling->seed),
                        trials.from_space);
  }
  std::vector<std::string> names;
  for (const TunerKind& other : TunerKinds()) {
    if (other.starting == Starting::kOneByOne) names.push_back(other.name);
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "got tpe, but " + kind.name +
                       " starts its trials at once, when nothing is known yet; expected random or sobol, or one of the "
                       "tuners " +
                       Joined(names),
                   "sampling");
}

const TunerKind* FindKind(const std::string& name) {
  const std::vector<TunerKind>& kinds = TunerKinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const TunerKind& k) { return k.name == name; });
  return kind == kinds.end() ? nullptr : &*kind;
}

}  // namespace

const std::vector<TunerKind>& TunerKinds() {
  static const std::vector<TunerKind> kKinds = {AsynchronousHalvingKind(),
                                                EarlyStopKind(),
                                                GridKind(),
                                                HyperbandKind(),
                                                MedianStoppingKind(),
                                                PbtKind(),
                                                RandomKind(),
                                                SuccessiveHalvingKind(),
                                                TpeKind()};
  return kKinds;
}

CandidateSource CandidatesOf(const std::string& name) {
  const TunerKind* const kind = FindKind(name);
  return kind == nullptr ? CandidateSource::kEither : kind->candidates;
}

std::int64_t VersionOf(const std::string& name) {
  const TunerKind* const kind = FindKind(name);
  return kind == nullptr ? 0 : kind->version;
}

std::optional<SamplingMethod> SamplingOf(const std::string& name) {
  const TunerKind* const kind = FindKind(name);
  return kind == nullptr ? std::nullopt : kind->sampling;
}

bool MayGoOnUntilStopped(const std::string& name) {
  const TunerKind* const kind = FindKind(name);
  return kind != nullptr && Contains(kind->option_names, "open_trials");
}

bool Learns(const Trials& trials) { return trials.sampling && trials.sampling->method == SamplingMethod::kTpe; }

Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const Options& options, const Trials& trials) {
  const TunerKind* const kind = FindKind(name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const TunerKind& known : TunerKinds()) names.push_back(known.name);
    return MakeError(ErrorCode::kInvalidArgument, "unknown tuner " + name + "; expected one of: " + Joined(names));
  }
  ESPALIER_RETURN_IF_ERROR(CheckOptionNames(*kind, options));
  ESPALIER_ASSIGN(std::unique_ptr<Tuner> tuner, kind->make(options, trials));
  if (!Learns(trials)) return tuner;
  return WithSampler(*kind, std::move(tuner), trials);
}

Result<std::int64_t> WholeOption(const Options& options, const std::string& name, std::int64_t least) {
  const std::string expected = "expected a whole number of at least " + std::to_string(least);
  const auto it = options.find(name);
  if (it == options.end()) return MakeError(ErrorCode::kInvalidArgument, "is missing; " + expected, name);
  const Value* const value = std::get_if<Value>(&it->second);
  if (value != nullptr && IsNumber(*value)) {
    const Result<Value> whole = Convert(*value, ValueType::kInteger);
    if (whole.has_value() && std::get<std::int64_t>(*whole) >= least) return std::get<std::int64_t>(*whole);
  }
  return MakeError(ErrorCode::kInvalidArgument, "got " + Shown(it->second) + "; " + expected, name);
}

Result<double> ShareOption(const Options& options, const std::string& name, double otherwise) {
  const auto it = options.find(name);
  if (it == options.end()) return otherwise;
  const Value* const value = std::get_if<Value>(&it->second);
  if (value != nullptr && IsNumber(*value)) {
    const double number = std::get<double>(Convert(*value, ValueType::kFloating).value());
    if (number >= 0 && number <= 1) return number;
  }
  return MakeError(ErrorCode::kInvalidArgument, "got " + Shown(it->second) + "; expected a number from 0 to 1", name);
}

Result<bool> FlagOption(const Options& options, const std::string& name) {
  const auto it = options.find(name);
  if (it == options.end()) return false;
  const Value* const value = std::get_if<Value>(&it->second);
  const bool* const flag = value == nullptr ? nullptr : std::get_if<bool>(value);
  if (flag != nullptr) return *flag;
  return MakeError(ErrorCode::kInvalidArgument, "got " + Shown(it->second) + "; expected true or false", name);
}

Result<std::optional<std::size_t>> OpenTrialsOption(const Options& options) {
  if (!options.contains("open_trials")) return std::nullopt;
  ESPALIER_ASSIGN(const std::int64_t count, WholeOption(options, "open_trials", 1));
  return static_cast<std::size_t>(count);
}

Result<Step> StepOption(const Options& options, const std::string& name, Step least) {
  ESPALIER_ASSIGN(const std::int64_t steps, WholeOption(options, name, least.value));
  if (steps <= kStepMax.value) return Step{steps};
  return MakeError(ErrorCode::kInvalidArgument, "got " + std::to_string(steps) + "; expected at most 2^53", name);
}

}  // namespace espalier::tuners
