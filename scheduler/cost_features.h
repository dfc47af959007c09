// What costs are estimated from: the hyper-parameters' values at a plan node's start, as numbers. Plain values.
//
// Numbers are in fixed point, so that their sums are exact and do not depend on order (scheduler/regression_sums.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "searchplan/plan/plan_node.h"

namespace espalier {

// A hyper-parameter's number, booleans being 0 and 1; or, with `text`, whether it is that text (1) or not (0).
struct CostFeature {
  std::variant<std::size_t, std::string> hyper_parameter;  // the schema's by its index, an undeclared one by its name
  std::optional<std::string> text = {};
  friend auto operator<=>(const CostFeature&, const CostFeature&) = default;
};

// In units of 2^-20, rounded to the nearest, magnitudes beyond 2^24 (sixteen million) cut to that: fine for a dropout,
// a batch size, a width; a random seed says nothing of costs anyway.
inline constexpr double kFeatureUnits = 1 << 20;
inline constexpr std::int64_t kFeatureMax = std::int64_t{1} << 44;

struct FeatureValue {
  CostFeature feature;
  std::int64_t value = 0;
  friend bool operator==(const FeatureValue&, const FeatureValue&) = default;
};

// Sorted by feature; what is not named is 0, and what is 0 is not named. So trials that name different undeclared
// hyper-parameters have comparable features, and those at their neutral value have none.
using Features = std::vector<FeatureValue>;

// Of the node's configuration at its start. O(hyper-parameters). REQUIRES: a node of a plan.
Features FeaturesOf(const PlanNode& node);
// Of values under names that nobody has declared.
Features FeaturesOf(const std::map<std::string, Value>& values);

}  // namespace espalier
