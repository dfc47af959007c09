// Families that change at each step, with one such piece: without end, or up to a value that they hold.
#include <algorithm>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/families.h"

namespace espalier {
namespace {

Result<Expansion> ExpandLinear(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const double slope, arguments.Number("slope"));
  return [=](Step origin, Step end, SegmentBuilder& segments) {
    return segments.Add(origin, end, Linear{init, slope});
  };
}

Result<Expansion> ExpandLinearTo(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const double held, arguments.Number("end"));
  ESPALIER_ASSIGN(const std::int64_t period, arguments.Count("period"));
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(AddRamp(init, held, period, origin, end, segments));
    if (origin + period >= end) return {};
    return segments.Add(origin + period, end, Constant{held});
  };
}

Result<Expansion> ExpandExponential(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const double gamma, arguments.Positive("gamma"));
  return [=](Step origin, Step end, SegmentBuilder& segments) {
    return segments.Add(origin, end, Exponential{init, gamma});
  };
}

Result<Expansion> ExpandPolynomial(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const std::int64_t period, arguments.Count("period"));
  ESPALIER_ASSIGN(const double power, arguments.Positive("power"));
  ESPALIER_ASSIGN(const double held, arguments.Number("end"));
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    const Step ramp_end = std::min(end, origin + period);
    ESPALIER_RETURN_IF_ERROR(segments.Add(origin, ramp_end, Polynomial{init, period, power, held}));
    if (ramp_end == end) return {};
    return segments.Add(ramp_end, end, Constant{held});
  };
}

Result<Expansion> ExpandInverseSqrt(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const double timescale, arguments.Positive("timescale"));
  return [=](Step origin, Step end, SegmentBuilder& segments) {
    return segments.Add(origin, end, InverseSqrt{init, timescale});
  };
}

}  // namespace

Result<void> AddRamp(double init, double ramp_end, std::int64_t period, Step origin, Step end,
                     SegmentBuilder& segments) {
  const double slope = (ramp_end - init) / static_cast<double>(period);
  return segments.Add(origin, std::min(end, origin + period), Linear{init, slope});
}

std::vector<Family> SmoothFamilies() {
  return {
      {"Linear", {{"init"}, {"slope"}}, FamilyTypes::kFloating, ExpandLinear},
      {"LinearTo", {{"init"}, {"end"}, {"period"}}, FamilyTypes::kFloating, ExpandLinearTo},
      {"Exponential", {{"init"}, {"gamma"}}, FamilyTypes::kFloating, ExpandExponential},
      {"Polynomial", {{"init"}, {"period"}, {"power"}, {"end", Value{0.0}}}, FamilyTypes::kFloating, ExpandPolynomial},
      {"InverseSqrt", {{"init"}, {"timescale", Value{1.0}}}, FamilyTypes::kFloating, ExpandInverseSqrt},
  };
}

}  // namespace espalier
