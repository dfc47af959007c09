// The value of a hyper-parameter at a step, its type, and a trainer's schema.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace espalier {

enum class ValueType { kBoolean, kInteger, kFloating, kText };

// "boolean", "integer", "floating", "text".
std::string_view Name(ValueType type);
Result<ValueType> ParseValueType(std::string_view name);

// The alternatives stand in ValueType's order. Floating values are finite and never -0.0.
using Value = std::variant<bool, std::int64_t, double, std::string>;

ValueType TypeOf(const Value& value);

// As the notation writes it: true, 32, 0.1 (the shortest form that parses back; a floating whole number as 1.0),
// "text".
std::string Print(const Value& value);

// The same value as `type`: 1 as floating is 1.0, 32.0 as integer is 32.
// Error: kInvalidArgument, naming what is expected ("a whole number, got 12.5").
Result<Value> Convert(const Value& value, ValueType type);

// What a hyper-parameter that a trainer does not declare is where a study leaves it out: false, 0, 0.0, "".
Value NeutralValue(ValueType type);

// By name.
using ValueTypes = std::map<std::string, ValueType>;

// One hyper-parameter that a trainer declares.
struct HyperParameter {
  std::string name;
  ValueType type = ValueType::kFloating;
  Value default_value;
  bool initial = false;  // fixed at step 0 (depth, seed); otherwise a sequence, which may change at any step
  friend bool operator==(const HyperParameter&, const HyperParameter&) = default;
};

// Every hyper-parameter that a trainer declares. Invariant: sorted by name, names unique.
struct Schema {
  std::vector<HyperParameter> hyper_parameters;
  bool takes_any = false;  // also sequences under any other name, which are at their NeutralValue where left out
  const HyperParameter* Find(std::string_view name) const;  // null if there is none of that name
  friend bool operator==(const Schema&, const Schema&) = default;
};

}  // namespace espalier
