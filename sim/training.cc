#include "sim/training.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "searchplan/sequence/configuration.h"

namespace espalier::sim {
namespace {

// Of splitmix64, by S. Vigna: every bit of the result depends on every bit of both.
std::uint64_t Mix(std::uint64_t state, std::uint64_t with) {
  std::uint64_t z = state + 0x9E3779B97F4A7C15 * (with + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

std::uint64_t Mix(std::uint64_t state, const std::string& text) {
  for (const char character : text) state = Mix(state, static_cast<unsigned char>(character));
  return Mix(state, text.size());
}

std::uint64_t Mix(std::uint64_t state, const worker::Values& values) {
  for (const auto& [name, value] : values) {
    state = Mix(state, name);
    if (const auto* floating = std::get_if<double>(&value)) {
      state = Mix(state, std::bit_cast<std::uint64_t>(*floating));
    } else {
      state = Mix(state, Print(value));
    }
  }
  return state;
}

// As much is a step with the best values worth to a formula.
constexpr std::uint64_t kFormulaUnit = 1 << 20;

double LearningRate(const worker::Values& values) {
  const auto found = values.find("lr");
  const double* rate = found == values.end() ? nullptr : std::get_if<double>(&found->second);
  return rate == nullptr ? 0 : *rate;
}

worker::Values ValuesAt(const Offer& offer, const Configuration& configuration, Step step, bool initial_too) {
  worker::Values values;
  for (std::size_t i = 0; i < offer.schema.hyper_parameters.size(); ++i) {
    const HyperParameter& parameter = offer.schema.hyper_parameters[i];
    if (initial_too || !parameter.initial) values[parameter.name] = espalier::At(configuration.functions[i], step);
  }
  return values;
}

std::vector<JointSegment> SegmentsOf(const Offer& offer, const std::map<std::string, std::string>& sequences,
                                     Step horizon) {
  std::map<std::string, Expression> expressions;
  for (const auto& [name, text] : sequences) {
    Result<Expression> expression = ParseExpression(text);
    ESPALIER_CHECK(expression.has_value()) << text << ": " << expression.error().message;
    expressions.emplace(name, std::move(*expression));
  }
  Result<std::vector<JointSegment>> segments = ResolveTrial(offer.schema, expressions, horizon);
  ESPALIER_CHECK(segments.has_value()) << segments.error().field << ": " << segments.error().message;
  return std::move(*segments);
}

}  // namespace

Offer OfferOf(int code, int evaluation) {
  return {.trainer = "simulated",
          .code_digest = "code-" + std::to_string(code),
          .data = "",
          .data_digest = "none",
          .evaluation_digest = "evaluation-" + std::to_string(evaluation),
          .schema = {{{"bs", ValueType::kInteger, Value{std::int64_t{32}}, false},
                      {"lr", ValueType::kFloating, Value{0.1}, false},
                      {"seed", ValueType::kInteger, Value{std::int64_t{1}}, true}}},
          .metrics = {"score"}};
}

Offer FormulaOffer(const std::string& trainer, const std::string& data, std::vector<std::string> metrics) {
  return {.trainer = trainer,
          .code_digest = "formula",
          .data = data,
          .data_digest = "none",
          .evaluation_digest = "formula",
          .schema = {.hyper_parameters = {}, .takes_any = true},
          .metrics = std::move(metrics)};
}

bool IsFormula(const Offer& offer) { return offer.code_digest == "formula"; }

std::uint64_t FormulaStateAfterStep(std::uint64_t state, const worker::Values& values, std::uint64_t seed) {
  return state + kFormulaUnit / 2 + Mix(seed, values) % (kFormulaUnit / 2);
}

double FormulaScore(std::uint64_t state, Step step) {
  constexpr double kHalfWay = 20;
  return static_cast<double>(state) / static_cast<double>(kFormulaUnit) / (static_cast<double>(step.value) + kHalfWay);
}

std::uint64_t StateAfterInit(const Offer& offer, const worker::Values& initial) {
  if (IsFormula(offer)) return 0;
  return Mix(Mix(0, offer.code_digest), initial);
}

std::uint64_t StateAfterStep(std::uint64_t state, const worker::Values& values) { return Mix(state, values); }

int SlotsNeeded(std::uint64_t state, const worker::Values& values) {
  constexpr double kNeedsMoreFrom = 0.55;
  constexpr double kNeedsMoreBelow = 0.6;
  constexpr std::uint64_t kOneStepIn = 12;
  constexpr std::uint64_t kOneOfThoseIn = 4;
  const double rate = LearningRate(values);
  if (rate < kNeedsMoreFrom || rate >= kNeedsMoreBelow || state % kOneStepIn != 0) return 1;
  return state / kOneStepIn % kOneOfThoseIn == 0 ? kDeviceSlots + 1 : kDeviceSlots;
}

StepFate FateOf(std::uint64_t state, const worker::Values& values) {
  if (SlotsNeeded(state, values) > kDeviceSlots) return StepFate::kOutgrows;
  constexpr double kDivergesFrom = 0.9;
  constexpr double kCrashesFrom = 0.8;
  constexpr double kRaisesFrom = 0.7;
  constexpr double kFinishesFrom = 0.6;
  constexpr std::uint64_t kOneStepIn = 12;
  const double rate = LearningRate(values);
  if (rate < kFinishesFrom || state % kOneStepIn != 0) return StepFate::kGoesOn;
  if (rate >= kDivergesFrom) return StepFate::kDiverges;
  if (rate >= kCrashesFrom) return StepFate::kCrashes;
  return rate >= kRaisesFrom ? StepFate::kRaises : StepFate::kFinishes;
}

EvaluationFate Evaluate(std::uint64_t state, const std::string& evaluation) {
  const std::uint64_t bits = Mix(Mix(state, "evaluate"), evaluation);
  const double score = static_cast<double>(bits >> 11) * 0x1p-53;
  if (evaluation == OfferOf(1, 0).evaluation_digest) return {.score = score};
  if (bits % 41 == 0) return {.raises = true, .state_intact = bits % 2 == 0};
  if (bits % 47 == 0) return {.crashes = true};
  if (bits % 43 == 0) return {.score = std::numeric_limits<double>::quiet_NaN()};
  return {.score = score};
}

double LossOf(std::uint64_t state) { return static_cast<double>(state % 1'000'003) / 1'000'003; }

std::string Sha256Of(std::uint64_t state) { return "sha256-" + std::to_string(state); }

TrainedAlone::TrainedAlone(const Offer& offer, const std::map<std::string, std::string>& sequences, Step horizon)
    : segments_(SegmentsOf(offer, sequences, horizon)) {
  std::size_t segment = 0;
  states_.push_back(StateAfterInit(offer, ValuesAt(offer, segments_[0].configuration, Step{0}, true)));
  for (Step step{0}; step < horizon; step = step + 1) {
    while (segment + 1 < segments_.size() && segments_[segment + 1].start <= step) ++segment;
    const worker::Values values = ValuesAt(offer, segments_[segment].configuration, step, false);
    states_.push_back(StateAfterStep(states_.back(), values));
    if (fate_ != StepFate::kGoesOn) continue;
    fate_ = FateOf(states_.back(), values);
    if (fate_ != StepFate::kGoesOn) fate_at_ = step + 1;
  }
}

TrainedAlone::Answer TrainedAlone::At(Step step, const std::string& evaluation) const {
  const bool is_past = fate_ != StepFate::kGoesOn && fate_at_ <= step;
  if (is_past && fate_ == StepFate::kDiverges) return {.score = std::numeric_limits<double>::quiet_NaN()};
  if (is_past && (fate_ != StepFate::kFinishes || last() == Step{0})) {  // finished before its first step: a mistake
    return {.state = ClaimState::kFailed, .by_crashes = fate_ == StepFate::kCrashes};
  }
  const EvaluationFate fate = Evaluate(StateAt(MeasuredAt(step)), evaluation);
  if (fate.raises || fate.crashes) return {.state = ClaimState::kFailed, .by_crashes = fate.crashes};
  return {.score = fate.score};
}

std::vector<JointSegment> TrainedAlone::SegmentsBefore(Step step) const {
  std::vector<JointSegment> before;
  for (const JointSegment& segment : segments_) {
    if (segment.start < step) before.push_back(segment);
  }
  return before;
}

Step TrainedAlone::last() const {
  if (fate_ == StepFate::kGoesOn) return Step{std::ssize(states_) - 1};
  return fate_ == StepFate::kFinishes ? fate_at_ - 1 : fate_at_;
}

Step TrainedAlone::MeasuredAt(Step step) const { return finishes() ? std::min(step, last()) : step; }

}  // namespace espalier::sim
