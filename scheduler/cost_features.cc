#include "scheduler/cost_features.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace espalier {
namespace {

std::int64_t FixedPoint(double number) {
  constexpr auto kMax = static_cast<double>(kFeatureMax);
  return std::llround(std::clamp(number * kFeatureUnits, -kMax, kMax));
}

struct FixedNumberOf {
  std::int64_t operator()(bool value) const { return FixedPoint(value ? 1 : 0); }
  std::int64_t operator()(std::int64_t value) const { return FixedPoint(static_cast<double>(value)); }
  std::int64_t operator()(double value) const { return FixedPoint(value); }
  // Leaving out a text that is not declared is the same as an empty one.
  std::int64_t operator()(const std::string& value) const { return FixedPoint(value.empty() ? 0 : 1); }
};

// Unless it is 0.
void AddFeature(Features& features, std::variant<std::size_t, std::string> of, const Value& value) {
  const std::int64_t number = std::visit(FixedNumberOf{}, value);
  if (number == 0) return;
  FeatureValue& added = features.emplace_back();
  added.value = number;
  added.feature.hyper_parameter = std::move(of);
  if (const auto* text = std::get_if<std::string>(&value)) added.feature.text = *text;
}

}  // namespace

Features FeaturesOf(const PlanNode& node) {
  const Configuration configuration = node.configuration.Unpack();
  const std::size_t declared = configuration.DeclaredCount();
  Features features;
  features.reserve(configuration.functions.size());
  for (std::size_t i = 0; i < configuration.functions.size(); ++i) {
    const Value value = At(configuration.functions[i], node.start);
    if (i < declared) {
      AddFeature(features, i, value);
    } else {
      AddFeature(features, configuration.undeclared[i - declared], value);
    }
  }
  return features;
}

Features FeaturesOf(const std::map<std::string, Value>& values) {
  Features features;
  features.reserve(values.size());
  for (const auto& [name, value] : values) AddFeature(features, name, value);
  return features;
}

}  // namespace espalier
