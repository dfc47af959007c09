#include "client/study_file/study_values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <sstream>
#include <system_error>

#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

using Kind = YamlNode::Kind;

// The largest first.
struct DurationUnit {
  char name;
  std::int64_t seconds;
};
constexpr DurationUnit kDurationUnits[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
constexpr std::chrono::seconds kDurationMax = std::chrono::hours(24000);
constexpr double kHoursMax = 24'000'000;

bool LooksLikeCall(const std::string& text) {
  const std::size_t name_end =
      std::find_if(text.begin(), text.end(),
                   [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; }) -
      text.begin();
  return name_end > 0 && text.find_first_not_of(' ', name_end) != std::string::npos &&
         text[text.find_first_not_of(' ', name_end)] == '(';
}

bool LooksLikeNotFinite(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  if (!text.empty() && text[0] == '.') text.erase(0, 1);
  return text == "nan" || text == "inf" || text == "infinity";
}

YamlNode ScalarOf(const std::string& text) {
  YamlNode scalar;
  scalar.kind = Kind::kScalar;
  scalar.text = text;
  return scalar;
}

}  // namespace

tl::unexpected<Error> Wrong(const std::string& field, const std::string& message) {
  return MakeError(ErrorCode::kInvalidArgument, message, field);
}

std::string Joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string DidYouMean(const std::string& name, const std::vector<std::string_view>& known) {
  return "; did you mean " + std::string(NearestName(name, known)) + "? expected one of: " + Joined(known);
}

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return node.text;
    case Kind::kList:
      return "a list";
    case Kind::kMapping:
      return "a mapping";
  }
  return "";
}

Result<void> ExpectMapping(const YamlNode& node, const std::string& field, const std::vector<std::string_view>& keys) {
  if (node.kind != Kind::kMapping) {
    return Wrong(field, "got " + Describe(node) + "; expected a mapping with " + Joined(keys));
  }
  for (const YamlEntry& entry : node.entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    return Wrong(field.empty() ? entry.key : field + "." + entry.key, "unknown key" + DidYouMean(entry.key, keys));
  }
  return {};
}

Result<std::string> Text(const YamlNode& parent, const std::string& key, const std::string& expected) {
  const YamlNode* node = parent.Find(key);
  if (node == nullptr) return Wrong(key, "is missing; expected " + expected);
  if (node->kind != Kind::kScalar || node->text.empty()) {
    return Wrong(key, "got " + Describe(*node) + "; expected " + expected);
  }
  return node->text;
}

Result<Expression> ToExpression(const YamlNode& node, const std::string& field) {
  const std::string expected = "expected a number, true, false, a text, or a sequence such as Exponential(0.1, 0.95)";
  if (node.kind != Kind::kScalar) return Wrong(field, "got " + Describe(node) + "; " + expected);
  if (LooksLikeCall(node.text)) {
    Result<Expression> call = ParseExpression(node.text);
    if (call.has_value()) return call;
    const bool cut = !node.quoted && std::count(node.text.begin(), node.text.end(), '(') !=
                                         std::count(node.text.begin(), node.text.end(), ')');
    return Wrong(field, call.error().message + (cut ? " (between [ and ] a sequence stands in quotes)" : ""));
  }
  if (node.quoted) return Expression{Value{node.text}};
  if (LooksLikeNotFinite(node.text)) return Wrong(field, "got " + node.text + "; expected a finite number");
  const std::string number = node.text[0] == '+' ? node.text.substr(1) : node.text;
  if (Result<Expression> constant = ParseExpression(number);
      constant.has_value() && std::holds_alternative<Value>(constant->form)) {
    return constant;
  }
  return Expression{Value{node.text}};
}

Result<Value> ToOption(const YamlNode& node, const std::string& field) {
  ESPALIER_ASSIGN(const Expression expression, ToExpression(node, field));
  const Value* value = std::get_if<Value>(&expression.form);
  if (value == nullptr) return Wrong(field, "got " + node.text + "; expected a plain value");
  return *value;
}

Result<StepMeaning> ToStepMeaning(const YamlNode& node, const std::string& field) {
  if (node.text == "epoch") return StepMeaning{};
  std::istringstream words(node.text);
  std::int64_t count = 0;
  std::string unit;
  std::string rest;
  words >> count >> unit;
  if (node.kind != Kind::kScalar || words.fail() || words >> rest || (unit != "updates" && unit != "update") ||
      count < 1) {
    return Wrong(field, "got " + Describe(node) + "; expected epoch, or N updates");
  }
  return StepMeaning{count};
}

Result<Seconds> ToDuration(const YamlNode& node, const std::string& field) {
  std::int64_t count = 0;
  const char* const begin = node.text.data();
  const char* const end = begin + node.text.size();
  const auto [rest, outcome] = std::from_chars(begin, end, count);
  const bool has_number = node.kind == Kind::kScalar && outcome == std::errc{} && rest + 1 == end && count > 0;
  for (const DurationUnit& unit : kDurationUnits) {
    if (!has_number || *rest != unit.name || count > kDurationMax.count() / unit.seconds) continue;
    return Seconds(static_cast<double>(count * unit.seconds));
  }
  return Wrong(field, "got " + Describe(node) + "; expected a time such as 90s, 30m or 2h, of at most 24000h");
}

std::string DurationText(Seconds duration) {
  const auto seconds = static_cast<std::int64_t>(duration.count());
  for (const DurationUnit& unit : kDurationUnits) {
    if (seconds % unit.seconds == 0) return std::to_string(seconds / unit.seconds) + unit.name;
  }
  return std::to_string(seconds) + "s";
}

Result<double> ToNumber(const YamlNode& node, const std::string& field) {
  ESPALIER_ASSIGN(const Value value, ToOption(node, field));
  const Result<Value> number = Convert(value, ValueType::kFloating);
  const double* const finite = number.has_value() ? std::get_if<double>(&*number) : nullptr;
  if (finite == nullptr || !std::isfinite(*finite)) {
    return Wrong(field, "got " + Describe(node) + "; expected a number");
  }
  return *finite;
}

Result<Seconds> ToHours(const YamlNode& node, const std::string& field) {
  const Result<double> hours = ToNumber(node, field);
  const std::chrono::duration<double, std::ratio<3600>> time(hours.value_or(0));
  if (time.count() > 0 && time.count() <= kHoursMax) return Seconds(time);
  return Wrong(field, "got " + Describe(node) + "; expected a number of hours above 0, such as 10 or 0.5");
}

double HoursIn(Seconds duration) { return std::chrono::duration<double, std::ratio<3600>>(duration).count(); }

Result<double> ParseNumber(const std::string& text, const std::string& option) {
  ESPALIER_ASSIGN(const Value value, ToOption(ScalarOf(text), option));
  const Result<Value> number = Convert(value, ValueType::kFloating);
  if (!number.has_value()) return Wrong(option, "got " + text + "; expected a number");
  return std::get<double>(*number);
}

Result<std::int64_t> ParseWhole(const std::string& text, const std::string& option) {
  return WholeNumber(ScalarOf(text), option, 0);
}

std::vector<std::string> ListOf(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) {
    const std::size_t first = part.find_first_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first, part.find_last_not_of(' ') + 1 - first));
  }
  return parts;
}

Result<Setting> ParseSetting(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Wrong(option, "got " + text + "; expected NAME=VALUE");
  }
  const std::string name = text.substr(0, equals);
  ESPALIER_ASSIGN(Expression expression, ToExpression(ScalarOf(text.substr(equals + 1)), option + " " + name));
  return Setting{name, std::move(expression)};
}

Result<std::int64_t> WholeNumber(const YamlNode& node, const std::string& field, std::int64_t least) {
  const std::string expected = "; expected a whole number from " + std::to_string(least) + " to 2^53";
  ESPALIER_ASSIGN(const Value value, ToOption(node, field));
  const Result<Value> whole = Convert(value, ValueType::kInteger);
  const bool number = TypeOf(value) == ValueType::kInteger || TypeOf(value) == ValueType::kFloating;
  if (!number || !whole.has_value()) return Wrong(field, "got " + node.text + expected);
  const std::int64_t result = std::get<std::int64_t>(*whole);
  if (result < least || result > kStepMax.value) return Wrong(field, "got " + node.text + expected);
  return result;
}

}  // namespace espalier
