#include "client/space/condition.h"

#include <algorithm>

#include "searchplan/sequence/expression.h"

namespace espalier {
namespace {

constexpr std::string_view kAnd = " and ";

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// A bare word is a text.
std::string InNotation(std::string_view value) {
  if (const Result<Expression> expression = ParseExpression(value); expression.has_value()) return Print(*expression);
  return Print(Value{std::string(value)});
}

tl::unexpected<Error> WrongCondition(std::string_view text) {
  return MakeError(ErrorCode::kInvalidArgument,
                   "got " + std::string(text) + "; expected NAME == VALUE or NAME != VALUE, several joined by and");
}

}  // namespace

bool Condition::Holds(const TrialText& trial) const {
  return std::ranges::all_of(comparisons, [&](const Comparison& comparison) {
    const auto it = trial.find(comparison.name);
    return it != trial.end() && (it->second == comparison.value) == comparison.equal;
  });
}

Result<Condition> ParseCondition(const std::string& of, std::string_view text) {
  Condition condition{of, {}};
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find(kAnd);
    const std::string_view comparison = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + kAnd.size());
    const std::size_t at = std::min(comparison.find("=="), comparison.find("!="));
    if (at == std::string_view::npos) return WrongCondition(text);
    const std::string_view name = Trimmed(comparison.substr(0, at));
    const std::string_view value = Trimmed(comparison.substr(at + 2));
    if (name.empty() || value.empty()) return WrongCondition(text);
    condition.comparisons.push_back({std::string(name), comparison[at] == '=', InNotation(value)});
  }
  if (condition.comparisons.empty()) return WrongCondition(text);
  return condition;
}

std::string Print(const Condition& condition) {
  std::string text;
  for (const Condition::Comparison& comparison : condition.comparisons) {
    if (!text.empty()) text += kAnd;
    text += comparison.name + (comparison.equal ? " == " : " != ") + comparison.value;
  }
  return text;
}

void Apply(const std::vector<Condition>& conditions, TrialText& trial) {
  const auto leave_out = [&](const Condition& condition) {
    return trial.contains(condition.of) && !condition.Holds(trial) && trial.erase(condition.of) > 0;
  };
  while (std::ranges::any_of(conditions, leave_out)) {
  }
}

}  // namespace espalier
