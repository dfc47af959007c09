#include "searchplan/sequence/arguments.h"

#include <algorithm>

#include "base/check.h"
#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

tl::unexpected<Error> Invalid(std::string message) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message));
}

std::string Shown(const Expression& expression) {
  if (const auto* call = std::get_if<Call>(&expression.form)) return Shortened(call->family) + "(...)";
  return Shortened(Print(std::get<Value>(expression.form)));
}

std::string Item(std::string_view name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

// "Cosine(init, min_y, period, gamma = 1)"
std::string Signature(const Family& family) {
  std::string text = std::string(family.name) + "(";
  for (const Parameter& parameter : family.parameters) {
    if (&parameter != &family.parameters.front()) text += ", ";
    text += parameter.name;
    if (parameter.default_value.has_value()) text += " = " + Print(*parameter.default_value);
  }
  return text + ")";
}

Result<Value> ScalarOf(std::string_view name, const Expression& expression) {
  if (const auto* value = std::get_if<Value>(&expression.form)) return *value;
  return Invalid(std::string(name) + " must be a plain value, got " + Shown(expression));
}

Result<double> NumberOf(std::string_view name, const Value& value) {
  const auto number = Convert(value, ValueType::kFloating);
  if (!number.has_value()) return Invalid(std::string(name) + ": " + number.error().message);
  return std::get<double>(*number);
}

Result<std::int64_t> CountOf(std::string_view name, const Value& value, std::int64_t least = 1) {
  const auto converted = Convert(value, ValueType::kInteger);
  const std::int64_t count = converted.has_value() ? std::get<std::int64_t>(*converted) : least - 1;
  if (count < least || count > kStepMax.value) {
    return Invalid(std::string(name) + " must be a whole number from " + std::to_string(least) + " to 2^53, got " +
                   Shown({value}));
  }
  return count;
}

Result<Value> OfKindNamed(std::string_view name, const Value& value, ValueType type) {
  auto converted = OfKind(value, type);
  if (!converted.has_value()) return Invalid(std::string(name) + ": " + converted.error().message);
  return converted;
}

}  // namespace

Result<Value> OfKind(const Value& value, ValueType type) {
  auto converted = Convert(value, type);
  if (converted.has_value() || type != ValueType::kInteger) return converted;
  const bool number_given = std::holds_alternative<double>(value) && Convert(value, ValueType::kFloating).has_value();
  if (number_given) return value;
  return converted;
}

Arguments::Arguments(const Family& family, ValueType type, int depth)
    : family_(family), given_(family.parameters.size(), nullptr), type_(type), depth_(depth) {}

Result<Arguments> Arguments::Match(const Family& family, const Call& call, ValueType type, int depth) {
  Arguments arguments(family, type, depth);
  std::vector<std::string_view> names;
  for (const Parameter& parameter : family.parameters) names.push_back(parameter.name);
  bool named_before = false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    std::size_t index = i;
    if (!argument.name.empty()) {
      named_before = true;
      index = std::find(names.begin(), names.end(), argument.name) - names.begin();
      if (index == names.size()) {
        return Invalid("no argument " + Shortened(argument.name) + ", did you mean " +
                       std::string(NearestName(argument.name, names)) + "? Expected " + Signature(family));
      }
    } else if (named_before) {
      return Invalid("arguments by position must come before those by name, expected " + Signature(family));
    } else if (index >= names.size()) {
      return Invalid("too many arguments (" + std::to_string(call.arguments.size()) + "), expected " +
                     Signature(family));
    }
    if (arguments.given_[index] != nullptr) return Invalid(std::string(names[index]) + " is given twice");
    arguments.given_[index] = &argument;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (arguments.given_[i] == nullptr && !family.parameters[i].default_value.has_value()) {
      return Invalid(std::string(names[i]) + " is missing, expected " + Signature(family));
    }
  }
  return arguments;
}

const Argument* Arguments::Given(std::string_view name) const {
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (family_.parameters[i].name == name) return given_[i];
  }
  ESPALIER_CHECK(false) << family_.name << " has no parameter " << name;
  return nullptr;
}

Result<const Expression*> Arguments::Single(std::string_view name) const {
  const auto* expression = std::get_if<Expression>(&Given(name)->value);
  if (expression == nullptr) return Invalid(std::string(name) + " must be a single value, got a list");
  return expression;
}

Result<const std::vector<Expression>*> Arguments::List(std::string_view name) const {
  const Argument& argument = *Given(name);
  if (const auto* list = std::get_if<std::vector<Expression>>(&argument.value)) return list;
  return Invalid(std::string(name) + " must be a list in [ ], got " + Shown(std::get<Expression>(argument.value)));
}

Result<Value> Arguments::Scalar(std::string_view name) const {
  if (Given(name) == nullptr) {
    const auto parameter = std::find_if(family_.parameters.begin(), family_.parameters.end(),
                                        [name](const Parameter& each) { return each.name == name; });
    return *parameter->default_value;
  }
  ESPALIER_ASSIGN(const Expression* expression, Single(name));
  return ScalarOf(name, *expression);
}

Result<double> Arguments::Number(std::string_view name) const {
  ESPALIER_ASSIGN(const Value value, Scalar(name));
  return NumberOf(name, value);
}

Result<double> Arguments::Positive(std::string_view name) const {
  ESPALIER_ASSIGN(const double number, Number(name));
  if (number <= 0) return Invalid(std::string(name) + " must be greater than 0, got " + Print(Value{number}));
  return number;
}

Result<std::int64_t> Arguments::Count(std::string_view name) const {
  ESPALIER_ASSIGN(const Value value, Scalar(name));
  return CountOf(name, value);
}

Result<std::int64_t> Arguments::CountOrNone(std::string_view name) const {
  ESPALIER_ASSIGN(const Value value, Scalar(name));
  return CountOf(name, value, 0);
}

Result<bool> Arguments::Boolean(std::string_view name) const {
  ESPALIER_ASSIGN(const Value value, Scalar(name));
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean;
  return Invalid(std::string(name) + " must be true or false, got " + Shown({value}));
}

Result<std::string> Arguments::Word(std::string_view name, const std::vector<std::string_view>& words) const {
  ESPALIER_ASSIGN(const Value value, Scalar(name));
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && std::find(words.begin(), words.end(), *text) != words.end()) return *text;
  std::string expected;
  for (const std::string_view word : words) {
    expected += (expected.empty() ? "" : " or ") + Print(Value{std::string(word)});
  }
  return Invalid(std::string(name) + " must be " + expected + ", got " + Shown({value}));
}

Result<std::vector<std::int64_t>> Arguments::Milestones(std::string_view name) const {
  ESPALIER_ASSIGN(const std::vector<Expression>* list, List(name));
  std::vector<std::int64_t> milestones;
  milestones.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    ESPALIER_ASSIGN(const Value value, ScalarOf(Item(name, i), (*list)[i]));
    ESPALIER_ASSIGN(const std::int64_t milestone, CountOf(Item(name, i), value));
    if (!milestones.empty() && milestone <= milestones.back()) {
      return Invalid(std::string(name) + " must be strictly increasing, got " + std::to_string(milestone) + " after " +
                     std::to_string(milestones.back()));
    }
    milestones.push_back(milestone);
  }
  return milestones;
}

Result<Value> Arguments::ValueOfKind(std::string_view name) const {
  ESPALIER_ASSIGN(const Value value, Scalar(name));
  return OfKindNamed(name, value, type_);
}

Result<std::vector<Value>> Arguments::ValuesOfKind(std::string_view name) const {
  ESPALIER_ASSIGN(const std::vector<Expression>* list, List(name));
  if (list->empty()) return Invalid(std::string(name) + " must have at least one value, got []");
  std::vector<Value> values;
  values.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    ESPALIER_ASSIGN(const Value given, ScalarOf(Item(name, i), (*list)[i]));
    ESPALIER_ASSIGN(Value value, OfKindNamed(Item(name, i), given, type_));
    values.push_back(std::move(value));
  }
  return values;
}

Result<Expansion> Arguments::Sequence(std::string_view name) const {
  ESPALIER_ASSIGN(const Expression* expression, Single(name));
  return Expand(*expression, type_, depth_ + 1);
}

Result<std::vector<Expansion>> Arguments::Sequences(std::string_view name) const {
  ESPALIER_ASSIGN(const std::vector<Expression>* list, List(name));
  if (list->empty()) return Invalid(std::string(name) + " must have at least one function, got []");
  std::vector<Expansion> expansions;
  expansions.reserve(list->size());
  for (const Expression& expression : *list) {
    ESPALIER_ASSIGN(Expansion expansion, Expand(expression, type_, depth_ + 1));
    expansions.push_back(std::move(expansion));
  }
  return expansions;
}

}  // namespace espalier
