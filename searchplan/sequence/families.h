// The families of sequences that users write, and what each expands to: pieces under primitive functions.
// To add a family: its function and its row in one of the *_families.cc files. Nothing else knows families by name.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/expression.h"
#include "searchplan/sequence/segment_builder.h"

namespace espalier {

class Arguments;

// What an expression means once its arguments are checked: appends the segments of [origin, end), on the expression's
// own clock from `origin`, and generates nothing beyond `end`. Errors: as SegmentBuilder::Add. REQUIRES: origin < end.
using Expansion = std::function<Result<void>(Step origin, Step end, SegmentBuilder& segments)>;

struct Parameter {
  std::string_view name;
  std::optional<Value> default_value = std::nullopt;
};

// Which hyper-parameters a family may be written for.
enum class FamilyTypes { kFloating, kNumbers, kAll };

struct Family {
  std::string_view name;
  std::vector<Parameter> parameters;
  FamilyTypes types;
  // Checks the arguments. Error: kInvalidArgument, naming the argument.
  Result<Expansion> (*expand)(const Arguments& arguments);
};

// Every family, in no particular order.
const std::vector<Family>& Families();

// Checks the whole expression, also what lies beyond any horizon. `depth` counts the calls around it.
// Error: kInvalidArgument, naming the family and the argument.
Result<Expansion> Expand(const Expression& expression, ValueType type, int depth = 0);

// The groups that Families puts together.
std::vector<Family> PlateauFamilies();
std::vector<Family> SmoothFamilies();
std::vector<Family> PeriodicFamilies();
std::vector<Family> OneCycleFamilies();
std::vector<Family> CooldownFamilies();
std::vector<Family> CombiningFamilies();

// init + x * ((end - init) / period) for x < period, which must not be 0; the ramp of LinearTo and Warmup.
Result<void> AddRamp(double init, double ramp_end, std::int64_t period, Step origin, Step end,
                     SegmentBuilder& segments);

}  // namespace espalier
