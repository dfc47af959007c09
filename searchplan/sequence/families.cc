#include "searchplan/sequence/families.h"

#include <algorithm>

#include "searchplan/sequence/arguments.h"
#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

bool Allows(FamilyTypes types, ValueType type) {
  switch (types) {
    case FamilyTypes::kFloating:
      return type == ValueType::kFloating;
    case FamilyTypes::kNumbers:
      return type == ValueType::kFloating || type == ValueType::kInteger;
    case FamilyTypes::kAll:
      return true;
  }
  return false;
}

Result<const Family*> FindFamily(const std::string& name, ValueType type) {
  const auto& families = Families();
  const auto found = std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.name == name; });
  if (found == families.end()) {
    std::vector<std::string_view> names;
    for (const Family& family : families) names.push_back(family.name);
    return MakeError(ErrorCode::kInvalidArgument, Shortened(name) + ": no such function, did you mean " +
                                                      std::string(NearestName(name, names)) + "?");
  }
  if (Allows(found->types, type)) return &*found;
  std::string allowed;
  for (const Family& family : families) {
    if (!Allows(family.types, type)) continue;
    if (!allowed.empty()) allowed += ", ";
    allowed += family.name;
  }
  const std::string given = found->types == FamilyTypes::kFloating ? "floating numbers" : "numbers";
  return MakeError(ErrorCode::kInvalidArgument, name + ": gives " + given + ", the hyper-parameter is of type " +
                                                    std::string(Name(type)) + ", expected one of " + allowed);
}

tl::unexpected<Error> InCall(std::string_view family, const Error& error) {
  return MakeError(error.code, std::string(family) + ": " + error.message);
}

}  // namespace

const std::vector<Family>& Families() {
  static const std::vector<Family> families = [] {
    std::vector<Family> all;
    for (const auto& group : {PlateauFamilies(), SmoothFamilies(), PeriodicFamilies(), OneCycleFamilies(),
                              CooldownFamilies(), CombiningFamilies()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return families;
}

Result<Expansion> Expand(const Expression& expression, ValueType type, int depth) {
  if (const auto* value = std::get_if<Value>(&expression.form)) {
    ESPALIER_ASSIGN(Value kept, OfKind(*value, type));
    return
        [kept](Step origin, Step end, SegmentBuilder& segments) { return segments.Add(origin, end, Constant{kept}); };
  }
  const auto& call = std::get<Call>(expression.form);
  if (depth >= kExpressionDepthMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected at most " + std::to_string(kExpressionDepthMax) + " nested functions");
  }
  ESPALIER_ASSIGN(const Family* family, FindFamily(call.family, type));
  const auto arguments = Arguments::Match(*family, call, type, depth);
  if (!arguments.has_value()) return InCall(family->name, arguments.error());
  auto expansion = family->expand(*arguments);
  if (!expansion.has_value()) return InCall(family->name, expansion.error());
  return [name = family->name, expand = *std::move(expansion)](Step origin, Step end,
                                                               SegmentBuilder& segments) -> Result<void> {
    const auto expanded = expand(origin, end, segments);
    if (!expanded.has_value()) return InCall(name, expanded.error());
    return {};
  };
}

}  // namespace espalier
