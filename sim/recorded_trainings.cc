#include "sim/recorded_trainings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "searchplan/sequence/sequence.h"
#include "sim/training.h"

namespace espalier::sim {
namespace {

Result<std::map<std::string, Sequence>> CompileAll(const RecordedTraining& training, Step horizon) {
  std::map<std::string, Sequence> sequences;
  for (const auto& [name, text] : training.sequences) {
    const auto type = training.types.find(name);
    if (type == training.types.end()) return MakeError(ErrorCode::kInvalidArgument, "it has no type", name);
    Result<Expression> expression = ParseExpression(text);
    if (!expression.has_value()) return MakeError(ErrorCode::kInvalidArgument, expression.error().message, name);
    Result<Sequence> sequence = Compile(*expression, type->second, horizon);
    if (!sequence.has_value()) return MakeError(ErrorCode::kInvalidArgument, sequence.error().message, name);
    sequences.emplace(name, *std::move(sequence));
  }
  return sequences;
}

worker::Values ValuesOf(const std::map<std::string, Sequence>& sequences, Step step) {
  worker::Values values;
  for (const auto& [name, sequence] : sequences) values.emplace(name, At(sequence, step));
  return values;
}

std::int64_t Microseconds(Seconds time) { return std::max<std::int64_t>(1, std::llround(time.count() * 1e6)); }

// On the straight line between two evaluations.
Metrics Between(const std::pair<const Step, Metrics>& before, const std::pair<const Step, Metrics>& after, Step step) {
  const double share = static_cast<double>(step - before.first) / static_cast<double>(after.first - before.first);
  Metrics between = before.second;
  for (auto& [name, value] : between) {
    const auto later = after.second.find(name);
    if (later != after.second.end()) value += (later->second - value) * share;
  }
  return between;
}

}  // namespace

std::uint64_t RecordedTrainings::StateAfterInit(const TrainingName& name) {
  return sim::StateAfterStep(0, {{"data", name.data}, {"step", name.step.updates}, {"trainer", name.trainer}});
}

std::uint64_t RecordedTrainings::StateAfterStep(std::uint64_t state, const worker::Values& values) {
  worker::Values named = values;
  std::erase_if(named, [](const auto& entry) { return entry.second == NeutralValue(TypeOf(entry.second)); });
  return sim::StateAfterStep(state, named);
}

Result<void> RecordedTrainings::Add(const RecordedTraining& training) {
  const Step horizon = training.stretches.back().until;
  ESPALIER_ASSIGN(const auto sequences, CompileAll(training, horizon));
  Costs& costs = costs_[training.name];
  const std::size_t place = ways_.size();
  ways_.push_back({training.stretches, training.metrics});
  std::uint64_t state = StateAfterInit(training.name);
  auto stretch = training.stretches.begin();
  Step begin{0};
  for (Step step{0}; step < horizon; step = step + 1) {
    const worker::Values values = ValuesOf(sequences, step);
    while (stretch->until <= step) begin = (stretch++)->until;
    state = StateAfterStep(state, values);
    way_by_state_.emplace(state, place);
    const bool is_first = step == begin && learned_.insert(state).second;
    if (is_first && stretch->is_measured) Learn(costs, *stretch, values, stretch->until - begin);
  }
  return {};
}

void RecordedTrainings::Learn(Costs& costs, const RecordedStretch& stretch, const worker::Values& values,
                              std::int64_t steps) {
  const Features features = FeaturesOf(values);
  for (const auto& [kind, time] : stretch.costs) {
    const Measurement measured{steps, steps * Microseconds(time)};
    costs.sums.Replace(kind, features, {}, measured);
    if (kind == CostKind::kLoad || kind == CostKind::kSetUp) {
      costs.begins[kind] = Sum(costs.begins[kind], {1, Microseconds(time)});
    }
  }
}

const RecordedTrainings::Way* RecordedTrainings::Find(std::uint64_t state) const {
  const auto found = way_by_state_.find(state);
  return found == way_by_state_.end() ? nullptr : &ways_[found->second];
}

const RecordedStretch* RecordedTrainings::StretchAt(const Way& way, Step step) {
  const auto stretch = std::ranges::lower_bound(way.stretches, step, {}, &RecordedStretch::until);
  return stretch == way.stretches.end() ? nullptr : &*stretch;
}

std::optional<Seconds> RecordedTrainings::TimeAt(CostKind kind, const TrainingName& name, std::uint64_t state,
                                                 Step step, const worker::Values& values) const {
  const Way* way = Find(state);
  const RecordedStretch* stretch = way == nullptr ? nullptr : StretchAt(*way, step);
  if (stretch != nullptr) {
    const auto cost = stretch->costs.find(kind);
    if (cost != stretch->costs.end()) return cost->second;
  }
  const auto costs = costs_.find(name);
  if (costs == costs_.end() || !costs->second.sums.IsMeasured(kind)) return std::nullopt;
  return costs->second.sums.Time(kind, FeaturesOf(values));
}

std::optional<Seconds> RecordedTrainings::TimeToBegin(CostKind kind, const TrainingName& name) const {
  const auto costs = costs_.find(name);
  if (costs == costs_.end()) return std::nullopt;
  const auto begins = costs->second.begins.find(kind);
  if (begins == costs->second.begins.end()) return std::nullopt;
  return Seconds(Mean(begins->second) * 1e-6);
}

bool RecordedTrainings::WasTrained(std::uint64_t state, Step step) const {
  const Way* way = Find(state);
  const RecordedStretch* stretch = way == nullptr ? nullptr : StretchAt(*way, step);
  return stretch != nullptr && stretch->is_measured;
}

bool RecordedTrainings::WasEvaluated(std::uint64_t state, Step step) const {
  const Way* way = Find(state);
  return way != nullptr && way->metrics.contains(step);
}

Result<Metrics> RecordedTrainings::MetricsAt(std::uint64_t state, Step step) const {
  const Way* way = Find(state);
  if (way == nullptr) {
    return MakeError(ErrorCode::kNotFound, "the trace has no training such as the one that is asked for at step " +
                                               std::to_string(step.value) +
                                               ": its tuner tries something else than it really did");
  }
  if (way->metrics.empty()) {
    return MakeError(ErrorCode::kNotFound,
                     "the trace has no metric anywhere on the way of a trial that is evaluated at step " +
                         std::to_string(step.value));
  }
  const auto after = way->metrics.lower_bound(step);
  if (after == way->metrics.end()) return std::prev(after)->second;
  if (after->first == step || after == way->metrics.begin()) return after->second;
  return Between(*std::prev(after), *after, step);
}

}  // namespace espalier::sim
