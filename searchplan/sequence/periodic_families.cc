// Families that begin again: some pieces for each period, each from its own origin.
#include <algorithm>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/exact_math.h"
#include "searchplan/sequence/families.h"

namespace espalier {
namespace {

Result<Expansion> ExpandCosine(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const double min_y, arguments.Number("min_y"));
  ESPALIER_ASSIGN(const std::int64_t first_period, arguments.Count("period"));
  ESPALIER_ASSIGN(const std::int64_t gamma, arguments.Count("gamma"));
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    if (init == min_y || (first_period == 1 && gamma == 1)) return segments.Add(origin, end, Constant{init});
    std::int64_t period = first_period;
    for (Step start = origin; start < end;) {
      const Step next = start + period;
      ESPALIER_RETURN_IF_ERROR(segments.Add(start, std::min(next, end), CosinePeriod{init, min_y, period}));
      start = next;
      if (start < end && period > kStepMax.value / gamma) {
        return MakeError(ErrorCode::kInvalidArgument, "the period from step " + std::to_string(start.value) +
                                                          " on is over 2^53 steps, expected a smaller gamma");
      }
      if (start < end) period *= gamma;
    }
    return {};
  };
}

Result<Expansion> ExpandSinusoid(const Arguments& arguments) {
  SinusoidPeriod sinusoid;
  ESPALIER_ASSIGN(sinusoid.magnitude, arguments.Number("magnitude"));
  ESPALIER_ASSIGN(sinusoid.period, arguments.Count("period"));
  ESPALIER_ASSIGN(sinusoid.phase, arguments.Number("phase"));
  ESPALIER_ASSIGN(sinusoid.offset, arguments.Number("offset"));
  if (sinusoid.phase < -kPhaseMax || sinusoid.phase > kPhaseMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "phase must be from -2^53 to 2^53 radians, got " + Print(Value{sinusoid.phase}));
  }
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    if (sinusoid.magnitude == 0 || sinusoid.period == 1) return segments.Add(origin, end, sinusoid);
    for (Step start = origin; start < end; start = start + sinusoid.period) {
      ESPALIER_RETURN_IF_ERROR(segments.Add(start, std::min(start + sinusoid.period, end), sinusoid));
    }
    return {};
  };
}

Result<Expansion> ExpandCyclicLR(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const double max_y, arguments.Number("max_y"));
  ESPALIER_ASSIGN(const std::int64_t period_up, arguments.Count("period1"));
  ESPALIER_ASSIGN(const std::int64_t period_down, arguments.Count("period2"));
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    if (init == max_y) return segments.Add(origin, end, Constant{init});
    Step start = origin;
    while (start < end) {
      ESPALIER_RETURN_IF_ERROR(AddRamp(init, max_y, period_up, start, end, segments));
      start = start + period_up;
      if (start >= end) break;
      ESPALIER_RETURN_IF_ERROR(AddRamp(max_y, init, period_down, start, end, segments));
      start = start + period_down;
    }
    return {};
  };
}

}  // namespace

std::vector<Family> PeriodicFamilies() {
  return {
      {"Cosine",
       {{"init"}, {"min_y"}, {"period"}, {"gamma", Value{std::int64_t{1}}}},
       FamilyTypes::kFloating,
       ExpandCosine},
      {"Sinusoid",
       {{"magnitude"}, {"period"}, {"phase", Value{0.0}}, {"offset", Value{0.0}}},
       FamilyTypes::kFloating,
       ExpandSinusoid},
      {"CyclicLR", {{"init"}, {"max_y"}, {"period1"}, {"period2"}}, FamilyTypes::kFloating, ExpandCyclicLR},
  };
}

}  // namespace espalier
