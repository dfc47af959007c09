#include "searchplan/sequence/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "searchplan/sequence/message_text.h"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 4> kTypeNames = {"boolean", "integer", "floating", "text"};

std::string PrintFloating(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  const bool looks_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_whole ? text + ".0" : text;
}

std::string PrintText(std::string_view value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      text += c;
    }
  }
  return text + '"';
}

tl::unexpected<Error> Expected(std::string_view what, const Value& value) {
  return MakeError(ErrorCode::kInvalidArgument, "expected " + std::string(what) + ", got " + Shortened(Print(value)));
}

Result<Value> ToFloating(const Value& value) {
  if (const auto* floating = std::get_if<double>(&value)) {
    if (!std::isfinite(*floating)) return Expected("a finite number", value);
    return *floating == 0 ? 0.0 : *floating;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    constexpr double kTwoTo63 = 9223372036854775808.0;
    const auto floating = static_cast<double>(*integer);
    if (floating == kTwoTo63 || static_cast<std::int64_t>(floating) != *integer) {
      return Expected("a number that floating point holds exactly", value);
    }
    return floating;
  }
  return Expected("a number", value);
}

Result<Value> ToInteger(const Value& value) {
  if (std::holds_alternative<std::int64_t>(value)) return value;
  const auto* floating = std::get_if<double>(&value);
  if (floating == nullptr || !std::isfinite(*floating)) return Expected("a whole number", value);
  if (*floating < -0x1p63 || *floating >= 0x1p63) return Expected("a whole number of at most 64 bits", value);
  const auto integer = static_cast<std::int64_t>(*floating);
  if (static_cast<double>(integer) != *floating) return Expected("a whole number", value);
  return integer;
}

}  // namespace

std::string_view Name(ValueType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

Result<ValueType> ParseValueType(std::string_view name) {
  const auto found = std::find(kTypeNames.begin(), kTypeNames.end(), name);
  if (found == kTypeNames.end()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected boolean, integer, floating or text, got " + Shortened(name));
  }
  return static_cast<ValueType>(found - kTypeNames.begin());
}

ValueType TypeOf(const Value& value) { return static_cast<ValueType>(value.index()); }

std::string Print(const Value& value) {
  switch (TypeOf(value)) {
    case ValueType::kBoolean:
      return std::get<bool>(value) ? "true" : "false";
    case ValueType::kInteger:
      return std::to_string(std::get<std::int64_t>(value));
    case ValueType::kFloating:
      return PrintFloating(std::get<double>(value));
    case ValueType::kText:
      return PrintText(std::get<std::string>(value));
  }
  return {};
}

Result<Value> Convert(const Value& value, ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      if (std::holds_alternative<bool>(value)) return value;
      return Expected("true or false", value);
    case ValueType::kInteger:
      return ToInteger(value);
    case ValueType::kFloating:
      return ToFloating(value);
    case ValueType::kText:
      if (std::holds_alternative<std::string>(value)) return value;
      return Expected("text in double quotes", value);
  }
  return Expected("a value of a known type", value);
}

Value NeutralValue(ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      return false;
    case ValueType::kInteger:
      return std::int64_t{0};
    case ValueType::kFloating:
      return 0.0;
    case ValueType::kText:
      return std::string();
  }
  return false;
}

const HyperParameter* Schema::Find(std::string_view name) const {
  const auto found = std::lower_bound(hyper_parameters.begin(), hyper_parameters.end(), name,
                                      [](const HyperParameter& each, std::string_view n) { return each.name < n; });
  return found != hyper_parameters.end() && found->name == name ? &*found : nullptr;
}

}  // namespace espalier
