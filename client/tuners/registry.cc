#include "client/tuners/registry.h"

#include <algorithm>

#include "client/tuners/asynchronous_halving.h"
#include "client/tuners/grid.h"
#include "client/tuners/hyperband.h"
#include "client/tuners/median_stopping.h"
#include "client/tuners/successive_halving.h"

namespace espalier::tuners {
namespace {

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Result<void> CheckOptionNames(const TunerKind& kind, const Options& options) {
  for (const auto& [name, value] : options) {
    if (std::find(kind.option_names.begin(), kind.option_names.end(), name) != kind.option_names.end()) continue;
    return MakeError(ErrorCode::kInvalidArgument,
                     "unknown option of " + kind.name + "; expected one of: " + Joined(kind.option_names), name);
  }
  return {};
}

const TunerKind* FindKind(const std::string& name) {
  const std::vector<TunerKind>& kinds = TunerKinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const TunerKind& k) { return k.name == name; });
  return kind == kinds.end() ? nullptr : &*kind;
}

}  // namespace

const std::vector<TunerKind>& TunerKinds() {
  static const std::vector<TunerKind> kKinds = {AsynchronousHalvingKind(), GridKind(),   HyperbandKind(),
                                                MedianStoppingKind(),      RandomKind(), SuccessiveHalvingKind()};
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

Result<std::unique_ptr<Tuner>> MakeTuner(const std::string& name, const Options& options,
                                         std::vector<Candidate> candidates) {
  const TunerKind* const kind = FindKind(name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const TunerKind& known : TunerKinds()) names.push_back(known.name);
    return MakeError(ErrorCode::kInvalidArgument, "unknown tuner " + name + "; expected one of: " + Joined(names));
  }
  ESPALIER_RETURN_IF_ERROR(CheckOptionNames(*kind, options));
  return kind->make(options, std::move(candidates));
}

Result<std::int64_t> WholeOption(const Options& options, const std::string& name, std::int64_t least) {
  const std::string expected = "expected a whole number of at least " + std::to_string(least);
  const auto it = options.find(name);
  if (it == options.end()) return MakeError(ErrorCode::kInvalidArgument, "is missing; " + expected, name);
  const Result<Value> whole = Convert(it->second, ValueType::kInteger);
  const bool number = TypeOf(it->second) == ValueType::kInteger || TypeOf(it->second) == ValueType::kFloating;
  if (!number || !whole.has_value() || std::get<std::int64_t>(*whole) < least) {
    return MakeError(ErrorCode::kInvalidArgument, "got " + Print(it->second) + "; " + expected, name);
  }
  return std::get<std::int64_t>(*whole);
}

Result<bool> FlagOption(const Options& options, const std::string& name) {
  const auto it = options.find(name);
  if (it == options.end()) return false;
  if (const bool* flag = std::get_if<bool>(&it->second)) return *flag;
  return MakeError(ErrorCode::kInvalidArgument, "got " + Print(it->second) + "; expected true or false", name);
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
