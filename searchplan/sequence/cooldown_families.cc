// The decays of trainings with a stable phase (warm-up, stable, decay; Haegele et al. 2024): many of them may leave one
// trunk, which they share.
#include <algorithm>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/families.h"

namespace espalier {
namespace {

constexpr std::string_view kLinearShape = "linear";
constexpr std::string_view kCosineShape = "cosine";

// From init to min_y within `period` steps; then min_y.
struct Decay {
  double init = 0;
  double min_y = 0;
  std::int64_t period = 1;
  std::string shape;
};

Result<std::string> ReadShape(const Arguments& arguments) {
  return arguments.Word("shape", {kLinearShape, kCosineShape, Name(CooldownShape::kSqrt), Name(CooldownShape::kSquare),
                                  Name(CooldownShape::kMirrorCosine)});
}

CooldownShape ShapeOf(std::string_view word) {
  if (word == Name(CooldownShape::kSquare)) return CooldownShape::kSquare;
  return word == Name(CooldownShape::kSqrt) ? CooldownShape::kSqrt : CooldownShape::kMirrorCosine;
}

Result<void> AddDecay(const Decay& decay, Step origin, Step end, SegmentBuilder& segments) {
  const Step decay_end = std::min(end, origin + decay.period);
  if (decay.shape == kLinearShape) {
    ESPALIER_RETURN_IF_ERROR(AddRamp(decay.init, decay.min_y, decay.period, origin, end, segments));
  } else if (decay.shape == kCosineShape) {
    ESPALIER_RETURN_IF_ERROR(segments.Add(origin, decay_end, CosinePeriod{decay.init, decay.min_y, decay.period}));
  } else {
    const CooldownPeriod cooldown{decay.init, decay.min_y, decay.period, ShapeOf(decay.shape)};
    ESPALIER_RETURN_IF_ERROR(segments.Add(origin, decay_end, cooldown));
  }
  if (decay_end == end) return {};
  return segments.Add(decay_end, end, Constant{decay.min_y});
}

Result<Expansion> ExpandCooldown(const Arguments& arguments) {
  Decay decay;
  ESPALIER_ASSIGN(decay.init, arguments.Number("init"));
  ESPALIER_ASSIGN(decay.min_y, arguments.Number("min_y"));
  ESPALIER_ASSIGN(decay.period, arguments.Count("period"));
  ESPALIER_ASSIGN(decay.shape, ReadShape(arguments));
  return [decay](Step origin, Step end, SegmentBuilder& segments) { return AddDecay(decay, origin, end, segments); };
}

struct WsdPhases {
  double start_y = 0;
  double max_y = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t stable_end = 0;
  Decay decay;  // of no steps: none
};

Result<WsdPhases> ReadWsdPhases(const Arguments& arguments) {
  WsdPhases phases;
  ESPALIER_ASSIGN(phases.max_y, arguments.Number("max_y"));
  ESPALIER_ASSIGN(const std::int64_t total_steps, arguments.Count("total_steps"));
  ESPALIER_ASSIGN(phases.decay.period, arguments.CountOrNone("decay_steps"));
  ESPALIER_ASSIGN(phases.warmup_steps, arguments.CountOrNone("warmup_steps"));
  ESPALIER_ASSIGN(phases.start_y, arguments.Number("start_y"));
  ESPALIER_ASSIGN(phases.decay.min_y, arguments.Number("min_y"));
  ESPALIER_ASSIGN(phases.decay.shape, ReadShape(arguments));
  if (phases.warmup_steps + phases.decay.period > total_steps) {
    return MakeError(ErrorCode::kInvalidArgument, "warmup_steps and decay_steps must be at most the " +
                                                      std::to_string(total_steps) + " of total_steps together, got " +
                                                      std::to_string(phases.warmup_steps) + " and " +
                                                      std::to_string(phases.decay.period));
  }
  phases.decay.init = phases.max_y;
  phases.stable_end = total_steps - phases.decay.period;
  return phases;
}

Result<Expansion> ExpandWsd(const Arguments& arguments) {
  ESPALIER_ASSIGN(const WsdPhases phases, ReadWsdPhases(arguments));
  return [phases](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    Step start = origin;
    if (phases.warmup_steps > 0) {
      ESPALIER_RETURN_IF_ERROR(AddRamp(phases.start_y, phases.max_y, phases.warmup_steps, origin, end, segments));
      start = std::min(end, origin + phases.warmup_steps);
    }
    const Step stable_end = phases.decay.period == 0 ? end : std::min(end, origin + phases.stable_end);
    if (start < stable_end) ESPALIER_RETURN_IF_ERROR(segments.Add(start, stable_end, Constant{phases.max_y}));
    if (stable_end == end) return {};
    return AddDecay(phases.decay, stable_end, end, segments);
  };
}

}  // namespace

std::vector<Family> CooldownFamilies() {
  const auto shape = [](std::string_view otherwise) { return Parameter{"shape", Value{std::string(otherwise)}}; };
  return {
      {"Cooldown", {{"init"}, {"min_y"}, {"period"}, shape(kLinearShape)}, FamilyTypes::kFloating, ExpandCooldown},
      {"WSD",
       {{"max_y"},
        {"total_steps"},
        {"decay_steps"},
        {"warmup_steps", Value{std::int64_t{0}}},
        {"start_y", Value{0.0}},
        {"min_y", Value{0.0}},
        shape(Name(CooldownShape::kSqrt))},
       FamilyTypes::kFloating,
       ExpandWsd},
  };
}

}  // namespace espalier
