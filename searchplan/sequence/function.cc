#include "searchplan/sequence/function.h"

#include <cmath>

#include "base/check.h"
#include "searchplan/sequence/exact_math.h"

namespace espalier {
namespace {

// The formulas of sequences.md as written, each operation rounded.

double ValueAt(const Linear& linear, std::int64_t x) { return linear.init + linear.slope * static_cast<double>(x); }

double ValueAt(const Exponential& exponential, std::int64_t x) {
  return exponential.init * WholePower(exponential.gamma, x);
}

double ValueAt(const CosinePeriod& cosine, std::int64_t x) {
  return cosine.init - (cosine.init - cosine.min_y) * ((1 - CosineOfPi(x, cosine.period)) / 2);
}

double ValueAt(const Polynomial& polynomial, std::int64_t x) {
  const double power = PowerOfRatio(polynomial.period - x, polynomial.period, polynomial.power);
  return polynomial.end + (polynomial.init - polynomial.end) * power;
}

double ValueAt(const InverseSqrt& inverse, std::int64_t x) {
  return inverse.init / std::sqrt((static_cast<double>(x) + inverse.timescale) / inverse.timescale);
}

double ValueAt(const SinusoidPeriod& sinusoid, std::int64_t x) {
  return sinusoid.offset + sinusoid.magnitude * CosineOfTurn(x, sinusoid.period, sinusoid.phase);
}

double ValueAt(const OneCyclePhase& phase, std::int64_t steps) {
  const auto x = static_cast<double>(FirstPlace(phase) + steps);
  if (phase.anneal == Anneal::kLinear) {
    return phase.from + (phase.to - phase.from) * ((x - phase.start) / (phase.end - phase.start));
  }
  return phase.to + (phase.from - phase.to) * ((1 + CosineOfPiBetween(x, phase.start, phase.end)) / 2);
}

// How much of the way is gone.
double ShareAt(const CooldownPeriod& cooldown, std::int64_t x) {
  const double u = static_cast<double>(x) / static_cast<double>(cooldown.period);
  switch (cooldown.shape) {
    case CooldownShape::kSqrt:
      return std::sqrt(u);
    case CooldownShape::kSquare:
      return u * u;
    case CooldownShape::kMirrorCosine:
      return 2 * u - (1 - CosineOfPi(x, cooldown.period)) / 2;
  }
  return 0;
}

double ValueAt(const CooldownPeriod& cooldown, std::int64_t x) {
  return cooldown.init - (cooldown.init - cooldown.min_y) * ShareAt(cooldown, x);
}

std::string PrintPrimitive(const Constant& constant) { return Print(constant.value); }

std::string PrintPrimitive(const Linear& linear) {
  return "Linear(" + Print(linear.init) + ", " + Print(linear.slope) + ")";
}

std::string PrintPrimitive(const Exponential& exponential) {
  return "Exponential(" + Print(exponential.init) + ", " + Print(exponential.gamma) + ")";
}

std::string PrintPrimitive(const CosinePeriod& cosine) {
  return "Cosine(" + Print(cosine.init) + ", " + Print(cosine.min_y) + ", " + std::to_string(cosine.period) + ")";
}

std::string PrintPrimitive(const Polynomial& polynomial) {
  return "Polynomial(" + Print(polynomial.init) + ", " + std::to_string(polynomial.period) + ", " +
         Print(polynomial.power) + ", " + Print(polynomial.end) + ")";
}

std::string PrintPrimitive(const InverseSqrt& inverse) {
  return "InverseSqrt(" + Print(inverse.init) + ", " + Print(inverse.timescale) + ")";
}

std::string PrintPrimitive(const SinusoidPeriod& sinusoid) {
  return "Sinusoid(" + Print(sinusoid.magnitude) + ", " + std::to_string(sinusoid.period) + ", " +
         Print(sinusoid.phase) + ", " + Print(sinusoid.offset) + ")";
}

std::string PrintPrimitive(const OneCyclePhase& phase) {
  return "OneCyclePhase(" + Print(phase.from) + ", " + Print(phase.to) + ", " + Print(phase.start) + ", " +
         Print(phase.end) + ", " + Print(Value{std::string(Name(phase.anneal))}) + ")";
}

std::string PrintPrimitive(const CooldownPeriod& cooldown) {
  return "Cooldown(" + Print(cooldown.init) + ", " + Print(cooldown.min_y) + ", " + std::to_string(cooldown.period) +
         ", " + Print(Value{std::string(Name(cooldown.shape))}) + ")";
}

}  // namespace

std::string_view Name(Anneal anneal) { return anneal == Anneal::kCosine ? "cos" : "linear"; }

std::string_view Name(CooldownShape shape) {
  switch (shape) {
    case CooldownShape::kSqrt:
      return "sqrt";
    case CooldownShape::kSquare:
      return "square";
    case CooldownShape::kMirrorCosine:
      return "mirror_cosine";
  }
  return "";
}

std::int64_t FirstPlace(const OneCyclePhase& phase) {
  return phase.start == 0 ? 0 : static_cast<std::int64_t>(phase.start) + 1;
}

Value At(const Function& function, Step step) {
  ESPALIER_CHECK(step >= function.origin);
  return std::visit(
      [x = step - function.origin, &factors = function.factors](const auto& primitive) -> Value {
        if constexpr (std::is_same_v<decltype(primitive), const Constant&>) {
          return primitive.value;
        } else {
          double value = ValueAt(primitive, x);
          for (const double factor : factors) value = factor * value;
          return value == 0 ? 0.0 : value;
        }
      },
      function.primitive);
}

std::string Print(const Function& function) {
  std::string text = std::visit([](const auto& each) { return PrintPrimitive(each); }, function.primitive);
  for (const double factor : function.factors) text = "Scale(" + Print(factor) + ", " + text + ")";
  return function.origin == Step{0} ? text : text + " from " + std::to_string(function.origin.value);
}

}  // namespace espalier
