#include "client/space/ranges.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace espalier {
namespace {

constexpr int kSignificantDigits = 6;

struct Bounds {
  double low = 0;
  double high = 0;
};

struct NumberRange {
  std::string_view name;
  Value (*at)(Bounds, double);  // of a number in [0, 1)
};

Value Rounded(double value, Bounds bounds) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, kSignificantDigits).ptr;
  std::from_chars(text.data(), end, value);
  return std::clamp(value, bounds.low, bounds.high);
}

Value UniformAt(Bounds bounds, double number) {
  return Rounded(bounds.low * (1 - number) + bounds.high * number, bounds);
}

Value LogUniformAt(Bounds bounds, double number) {
  return Rounded(std::exp(std::log(bounds.low) * (1 - number) + std::log(bounds.high) * number), bounds);
}

Value IntegerAt(Bounds bounds, double number) {
  const double value = bounds.low + std::floor(number * (bounds.high - bounds.low + 1));
  return static_cast<std::int64_t>(std::min(value, bounds.high));
}

constexpr std::string_view kChoice = "choice";
constexpr NumberRange kNumberRanges[] = {{"uniform", UniformAt}, {"loguniform", LogUniformAt}, {"integer", IntegerAt}};

const NumberRange* FindNumberRange(const Call& call) {
  const auto* const found = std::ranges::find(kNumberRanges, call.family, &NumberRange::name);
  return found == std::end(kNumberRanges) ? nullptr : found;
}

bool IsRange(const Call& call) { return call.family == kChoice || FindNumberRange(call) != nullptr; }

// Calls `visit` with each expression among the call's arguments.
template <typename AnyCall, typename Visit>
void ForEachArgument(AnyCall& call, const Visit& visit) {
  for (auto& argument : call.arguments) {
    if (auto* single = std::get_if<Expression>(&argument.value)) {
      visit(*single);
    } else {
      for (auto& item : std::get<std::vector<Expression>>(argument.value)) visit(item);
    }
  }
}

tl::unexpected<Error> WrongRange(const Call& call, const std::string& expected) {
  return MakeError(ErrorCode::kInvalidArgument, "got " + Print(Expression{call}) + "; expected " + expected);
}

Result<double> BoundOf(const Call& call, std::size_t index) {
  const Argument& argument = call.arguments[index];
  const std::string_view name = index == 0 ? "low" : "high";
  const auto* const expression = std::get_if<Expression>(&argument.value);
  const auto* const value = expression == nullptr ? nullptr : std::get_if<Value>(&expression->form);
  const bool number =
      value != nullptr && (std::holds_alternative<std::int64_t>(*value) || std::holds_alternative<double>(*value));
  if (!number || (!argument.name.empty() && argument.name != name)) {
    return WrongRange(call, call.family + "(low, high) with two numbers");
  }
  ESPALIER_ASSIGN(const Value floating, Convert(*value, ValueType::kFloating));
  return std::get<double>(floating);
}

Result<Bounds> BoundsOf(const Call& call) {
  if (call.arguments.size() != 2) return WrongRange(call, call.family + "(low, high) with two numbers");
  Bounds bounds;
  ESPALIER_ASSIGN(bounds.low, BoundOf(call, 0));
  ESPALIER_ASSIGN(bounds.high, BoundOf(call, 1));
  if (bounds.low > bounds.high) return WrongRange(call, "low to be at most high");
  if (!std::isfinite(bounds.high - bounds.low)) return WrongRange(call, "bounds whose difference is a number");
  return bounds;
}

Result<void> CheckNumberRange(const Call& call) {
  ESPALIER_ASSIGN(const Bounds bounds, BoundsOf(call));
  if (call.family == "loguniform" && bounds.low <= 0) return WrongRange(call, "low to be greater than 0");
  constexpr double kWholeMax = 9007199254740992;  // 2^53
  const bool whole = bounds.low == std::floor(bounds.low) && bounds.high == std::floor(bounds.high) &&
                     bounds.low >= -kWholeMax && bounds.high <= kWholeMax;
  if (call.family == "integer" && !whole) return WrongRange(call, "whole numbers of at most 2^53");
  return {};
}

Result<void> CheckChoice(const Call& call) {
  if (call.arguments.empty()) return WrongRange(call, "at least one value to choose from");
  for (const Argument& argument : call.arguments) {
    if (!argument.name.empty() || !std::holds_alternative<Expression>(argument.value)) {
      return WrongRange(call, "values and sequences, without names and lists");
    }
  }
  return {};
}

}  // namespace

std::size_t ChosenOf(std::size_t count, double number) {
  return std::min(static_cast<std::size_t>(number * static_cast<double>(count)), count - 1);
}

std::vector<Dimension> RangesOf(const Expression& expression) {
  const auto* const call = std::get_if<Call>(&expression.form);
  if (call == nullptr) return {};
  std::vector<Dimension> dimensions;
  if (IsRange(*call)) dimensions.push_back({call->family == kChoice ? call->arguments.size() : 0});
  ForEachArgument(*call, [&](const Expression& argument) {
    const std::vector<Dimension> within = RangesOf(argument);
    dimensions.insert(dimensions.end(), within.begin(), within.end());
  });
  return dimensions;
}

Result<void> CheckRanges(const Expression& expression) {
  const auto* const call = std::get_if<Call>(&expression.form);
  if (call == nullptr) return {};
  if (FindNumberRange(*call) != nullptr) return CheckNumberRange(*call);
  if (call->family == kChoice) ESPALIER_RETURN_IF_ERROR(CheckChoice(*call));
  Result<void> checked;
  ForEachArgument(*call, [&](const Expression& argument) {
    if (checked.has_value()) checked = CheckRanges(argument);
  });
  return checked;
}

bool IsNumberRange(const Expression& expression) {
  const auto* const call = std::get_if<Call>(&expression.form);
  return call != nullptr && FindNumberRange(*call) != nullptr;
}

Value Scaled(const Expression& range, const Value& value, double factor) {
  const Bounds bounds = BoundsOf(std::get<Call>(range.form)).value();
  if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
    const double exact = static_cast<double>(*whole) * factor;
    const double away = exact > static_cast<double>(*whole) ? std::ceil(exact) : std::floor(exact);
    return static_cast<std::int64_t>(std::clamp(away, bounds.low, bounds.high));
  }
  return Rounded(std::get<double>(value) * factor, bounds);
}

Expression Drawn(const Expression& expression, const NextNumber& next) {
  if (std::holds_alternative<Value>(expression.form)) return expression;
  Call call = std::get<Call>(expression.form);
  if (const NumberRange* const range = FindNumberRange(call); range != nullptr) {
    const Result<Bounds> bounds = BoundsOf(call);
    ESPALIER_CHECK(bounds.has_value()) << "ranges were checked";
    return Expression{range->at(*bounds, next())};
  }
  const double number = call.family == kChoice ? next() : 0;
  ForEachArgument(call, [&](Expression& argument) { argument = Drawn(argument, next); });
  if (call.family != kChoice) return Expression{std::move(call)};
  return std::get<Expression>(call.arguments[ChosenOf(call.arguments.size(), number)].value);
}

}  // namespace espalier
