// What each primitive says of itself, against its values.
#include "searchplan/sequence/primitive_traits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace espalier {
namespace {

// In force for so many steps.
struct PrimitiveSample {
  Primitive primitive;
  std::int64_t steps = 30;
};

const std::vector<PrimitiveSample>& VaryingPrimitives() {
  static const std::vector<PrimitiveSample> samples = {
      {Linear{0.1, 0.3}},
      {Linear{1e308, 1e307}},
      {Linear{-1e308, -1e308}},
      {Exponential{0.1, 0.95}},
      {Exponential{1, 1e30}},
      {CosinePeriod{1, 0, 30}},
      {CosinePeriod{1e308, -1e308, 30}},
      {Polynomial{1, 30, 2, 0}},
      {Polynomial{1e308, 30, 0.5, -1e308}},
      {InverseSqrt{1, 3}},
      {SinusoidPeriod{1, 30, 0, 0}},
      {SinusoidPeriod{1e308, 30, 0, 1e308}},
      {OneCyclePhase{0.1, 1, 0, 29, Anneal::kCosine}},
      {OneCyclePhase{1, 0.1, 0.5, 31, Anneal::kLinear}},
      {CooldownPeriod{1, 0, 30, CooldownShape::kSqrt}},
      {CooldownPeriod{1, 0, 30, CooldownShape::kSquare}},
      {CooldownPeriod{1e308, -1e308, 30, CooldownShape::kSquare}},
      {CooldownPeriod{1, 0, 30, CooldownShape::kMirrorCosine}},
  };
  return samples;
}

const std::vector<PrimitiveSample>& ConstantPrimitives() {
  static const std::vector<PrimitiveSample> samples = {
      {Linear{0.5, 0}},
      {Exponential{0.5, 1}},
      {Exponential{0, 0.9}},
      {CosinePeriod{0.5, 0.5, 30}},
      {CosinePeriod{0.5, 0, 1}, 1},
      {Polynomial{0.5, 30, 2, 0.5}},
      {InverseSqrt{0, 3}},
      {SinusoidPeriod{0, 30, 0.1, 0.5}},
      {SinusoidPeriod{0.5, 1, 0.1, 0.5}, 1},
      {OneCyclePhase{0.5, 0.5, 0, 30, Anneal::kCosine}},
      {CooldownPeriod{0.5, 0.5, 30, CooldownShape::kSqrt}},
  };
  return samples;
}

// From an origin that is not 0.
Function InForce(const PrimitiveSample& sample) { return {sample.primitive, Step{7}}; }

std::vector<double> ValuesInForce(const PrimitiveSample& sample) {
  const Function function = InForce(sample);
  std::vector<double> values;
  for (Step step = function.origin; step - function.origin < sample.steps; ++step.value) {
    values.push_back(std::get<double>(At(function, step)));
  }
  return values;
}

bool OnlyGrowsOrFalls(const std::vector<double>& values) {
  return std::is_sorted(values.begin(), values.end()) || std::is_sorted(values.rbegin(), values.rend());
}

}  // namespace

TEST_CASE("a primitive that cannot change says its value, and one that changes says none") {
  CHECK(ConstantValue(Constant{std::string("sgd")}) == Value{std::string("sgd")});
  for (const PrimitiveSample& sample : ConstantPrimitives()) {
    const Function function = InForce(sample);
    INFO(Print(function));
    const std::optional<Value> value = ConstantValue(sample.primitive);
    REQUIRE(value.has_value());
    for (const double each : ValuesInForce(sample)) CHECK(Value{each} == *value);
  }
  for (const PrimitiveSample& sample : VaryingPrimitives()) {
    INFO(Print(InForce(sample)));
    CHECK_FALSE(ConstantValue(sample.primitive).has_value());
  }
}

TEST_CASE("the values of a monotone primitive only grow or only fall, and those of a sinusoid turn") {
  CHECK(IsMonotone(Constant{true}));
  for (const PrimitiveSample& sample : VaryingPrimitives()) {
    INFO(Print(InForce(sample)));
    std::vector<double> values = ValuesInForce(sample);
    values.erase(std::find_if_not(values.begin(), values.end(), [](double each) { return std::isfinite(each); }),
                 values.end());
    if (IsMonotone(sample.primitive)) CHECK(OnlyGrowsOrFalls(values));
    if (std::holds_alternative<SinusoidPeriod>(sample.primitive)) CHECK_FALSE(IsMonotone(sample.primitive));
  }
  CHECK_FALSE(OnlyGrowsOrFalls(ValuesInForce({SinusoidPeriod{1, 30, 0, 0}})));
}

TEST_CASE("the first value that is not finite is found, wherever it is") {
  int found = 0;
  for (const PrimitiveSample& sample : VaryingPrimitives()) {
    Function function = InForce(sample);
    for (const std::vector<double>& factors : {std::vector<double>{}, std::vector<double>{1e300, 1e-300}}) {
      function.factors = factors;
      INFO(Print(function));
      const Step last = function.origin + sample.steps - 1;
      std::optional<Step> expected;
      for (Step step = function.origin; step <= last && !expected; ++step.value) {
        if (!std::isfinite(std::get<double>(At(function, step)))) expected = step;
      }
      const std::optional<Step> first = FirstNotFinite(function, last);
      if (std::holds_alternative<SinusoidPeriod>(sample.primitive)) {
        CHECK((first.has_value() || !expected));  // it may refuse what would just do
      } else {
        CHECK(first == expected);
      }
      found += expected ? 1 : 0;
    }
  }
  CHECK(found >= 5);
}

}  // namespace espalier
