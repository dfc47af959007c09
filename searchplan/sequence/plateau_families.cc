// Families whose values stay the same for several steps: all their pieces are Constants.
#include <algorithm>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/exact_math.h"
#include "searchplan/sequence/families.h"
#include "searchplan/sequence/plateaus.h"

namespace espalier {
namespace {

Result<Expansion> ExpandConstant(const Arguments& arguments) {
  ESPALIER_ASSIGN(const Value init, arguments.ValueOfKind("init"));
  return [init](Step origin, Step end, SegmentBuilder& segments) { return segments.Add(origin, end, Constant{init}); };
}

Result<Expansion> ExpandStep(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const std::int64_t every, arguments.Count("every"));
  ESPALIER_ASSIGN(const double gamma, arguments.Positive("gamma"));
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    const std::int64_t count_end = (end - origin - 1) / every + 1;
    for (std::int64_t count = 0; count < count_end;) {
      const std::int64_t next =
          NextChange(count, count_end, [&](std::int64_t each) { return init * WholePower(gamma, each); });
      const Step plateau_end = std::min(end, origin + next * every);
      ESPALIER_RETURN_IF_ERROR(
          AddPlateau(init * WholePower(gamma, count), origin + count * every, plateau_end, segments));
      count = next;
    }
    return {};
  };
}

Result<Expansion> ExpandMultiStep(const Arguments& arguments) {
  ESPALIER_ASSIGN(const double init, arguments.Number("init"));
  ESPALIER_ASSIGN(const std::vector<std::int64_t> milestones, arguments.Milestones("milestones"));
  ESPALIER_ASSIGN(const double gamma, arguments.Positive("gamma"));
  return [=](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    Step start = origin;
    for (std::size_t count = 0; start < end; ++count) {
      const Step next = count < milestones.size() ? std::min(end, origin + milestones[count]) : end;
      const double value = init * WholePower(gamma, static_cast<std::int64_t>(count));
      ESPALIER_RETURN_IF_ERROR(AddPlateau(value, start, next, segments));
      start = next;
    }
    return {};
  };
}

Result<Expansion> ExpandTable(const Arguments& arguments) {
  ESPALIER_ASSIGN(std::vector<Value> values, arguments.ValuesOfKind("values"));
  return [values = std::move(values)](Step origin, Step end, SegmentBuilder& segments) -> Result<void> {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Step start = origin + static_cast<std::int64_t>(i);
      if (start >= end) break;
      const Step value_end = i + 1 < values.size() ? start + 1 : end;
      ESPALIER_RETURN_IF_ERROR(segments.Add(start, value_end, Constant{values[i]}));
    }
    return {};
  };
}

}  // namespace

std::vector<Family> PlateauFamilies() {
  return {
      {"Constant", {{"init"}}, FamilyTypes::kAll, ExpandConstant},
      {"Step", {{"init"}, {"every"}, {"gamma"}}, FamilyTypes::kNumbers, ExpandStep},
      {"MultiStep", {{"init"}, {"milestones"}, {"gamma"}}, FamilyTypes::kNumbers, ExpandMultiStep},
      {"Table", {{"values"}}, FamilyTypes::kAll, ExpandTable},
  };
}

}  // namespace espalier
