#include "worker/check/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace espalier::trainer_check {
namespace {

using Json = nlohmann::json;

constexpr char kMissing[] = "missing";
constexpr std::size_t kTextBytesMax = 80;
constexpr int kDepthMax = 64;

std::string Shortened(std::string text) {
  if (text.size() > kTextBytesMax) text = text.substr(0, kTextBytesMax) + "...";
  return text;
}

std::string Text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", number);
  return text;
}

bool IsSame(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::optional<double> Distance(double a, double b) {
  return std::isfinite(a - b) ? std::optional(std::abs(a - b)) : std::nullopt;
}

template <class Number>
Number Raw(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  return number;
}

float FromHalf(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const float magnitude = exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
                          : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                           : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (bits >> 15) != 0 ? -magnitude : magnitude;
}

// One element as a number, near enough to be shown.
double Element(const std::string& type, const char* bytes) {
  if (type == "F64") return Raw<double>(bytes);
  if (type == "F32") return Raw<float>(bytes);
  if (type == "F16") return FromHalf(Raw<std::uint16_t>(bytes));
  if (type == "BF16") return std::bit_cast<float>(static_cast<std::uint32_t>(Raw<std::uint16_t>(bytes)) << 16);
  if (type == "I64") return static_cast<double>(Raw<std::int64_t>(bytes));
  if (type == "I32") return Raw<std::int32_t>(bytes);
  if (type == "I16") return Raw<std::int16_t>(bytes);
  if (type == "I8") return Raw<std::int8_t>(bytes);
  if (type == "U64") return static_cast<double>(Raw<std::uint64_t>(bytes));
  if (type == "U32") return Raw<std::uint32_t>(bytes);
  if (type == "U16") return Raw<std::uint16_t>(bytes);
  return Raw<std::uint8_t>(bytes);
}

// Of the element with this number, row by row: "[3, 5]"; empty for a single number.
std::string Place(const std::vector<std::int64_t>& shape, std::size_t number) {
  std::string place;
  auto rest = static_cast<std::int64_t>(number);
  for (std::size_t i = shape.size(); i-- > 0;) {
    place = std::to_string(rest % shape[i]) + (place.empty() ? "" : ", ") + place;
    rest /= shape[i];
  }
  return place.empty() ? "" : "[" + place + "]";
}

std::string Kind(const StateArray& array) {
  std::string kind = array.type;
  for (std::size_t i = 0; i < array.shape.size(); ++i) kind += (i == 0 ? " " : "x") + std::to_string(array.shape[i]);
  return kind;
}

// What an array of bytes says, if it is an object or a list of JSON.
std::optional<Json> JsonIn(const StateArray& array) {
  if (array.type != "U8" || array.shape.size() != 1) return std::nullopt;
  const auto is_kept = [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; };
  Json json = Json::parse(array.bytes, is_kept, /*allow_exceptions=*/false);
  return json.is_structured() ? std::optional(std::move(json)) : std::nullopt;
}

// A list of pairs behind a word, as some trainers write mappings, so that keys can be numbers: ["dict", [key,
// value]...].
bool IsMapping(const Json& json) {
  const auto is_pair = [](const Json& each) { return each.is_array() && each.size() == 2 && each[0].is_primitive(); };
  return json.is_array() && json.size() > 1 && json[0].is_string() &&
         std::all_of(json.begin() + 1, json.end(), is_pair);
}

std::string KeyText(const Json& key) { return key.is_string() ? key.get<std::string>() : key.dump(); }

std::string Said(const Json& json) { return Shortened(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

// Descends to the first place where the two differ, and counts the leaves that do. REQUIRES: they differ.
void Descend(const Json& expected, const Json& found, Difference& difference) {
  const auto into = [&](const std::string& key, const Json& a, const Json& b) {
    difference.place += (difference.place.empty() ? "" : ".") + key;
    Descend(a, b, difference);
  };
  if (IsMapping(expected) && IsMapping(found) && expected.size() == found.size()) {
    for (std::size_t i = 1; i < expected.size(); ++i) {
      if (expected[i] != found[i] && expected[i][0] == found[i][0]) {
        return into(KeyText(expected[i][0]), expected[i][1], found[i][1]);
      }
    }
  } else if (expected.is_array() && found.is_array() && expected.size() == found.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] != found[i]) return into(std::to_string(i), expected[i], found[i]);
    }
  } else if (expected.is_object() && found.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (found.contains(key) && found[key] != value) return into(key, value, found[key]);
    }
  }
  difference.expected = Said(expected);
  difference.found = Said(found);
  if (expected.is_number() && found.is_number()) {
    difference.by = Distance(expected.get<double>(), found.get<double>());
  }
}

Difference Compare(const std::string& name, const StateArray& expected, const StateArray& found) {
  Difference difference{.name = name};
  if (expected.type != found.type || expected.shape != found.shape) {
    difference.expected = Kind(expected);
    difference.found = Kind(found);
    return difference;
  }
  const std::size_t width = ElementBytes(expected.type).value_or(1);
  difference.size = static_cast<std::int64_t>(expected.bytes.size() / width);
  difference.differing = 0;
  for (std::size_t at = 0; at + width <= expected.bytes.size(); at += width) {
    if (std::memcmp(&expected.bytes[at], &found.bytes[at], width) == 0) continue;
    const double a = Element(expected.type, &expected.bytes[at]);
    const double b = Element(found.type, &found.bytes[at]);
    if (difference.differing++ == 0) {
      difference.place = Place(expected.shape, at / width);
      difference.expected = Text(a);
      difference.found = Text(b);
    }
    if (const auto by = Distance(a, b)) difference.by = std::max(difference.by.value_or(0), *by);
  }
  return difference;
}

}  // namespace

std::string Print(const Difference& difference) {
  std::string text = difference.name;
  if (!difference.place.empty()) text += (difference.place.front() == '[' ? "" : " ") + difference.place;
  text += " is " + difference.found + ", was " + difference.expected;
  if (difference.size > 1) {
    text += "; " + std::to_string(difference.differing) + " of " + std::to_string(difference.size) + " elements differ";
    if (difference.by.has_value()) text += ", by " + Text(*difference.by) + " at most";
  } else if (difference.by.has_value()) {
    text += " (by " + Text(*difference.by) + ")";
  }
  return text;
}

std::vector<Difference> Differences(const Metrics& expected, const Metrics& found) {
  std::vector<Difference> differences;
  for (const auto& [name, value] : expected) {
    const auto it = found.find(name);
    if (it == found.end()) {
      differences.push_back({.name = name, .expected = Text(value), .found = kMissing});
    } else if (!IsSame(value, it->second)) {
      differences.push_back(
          {.name = name, .expected = Text(value), .found = Text(it->second), .by = Distance(value, it->second)});
    }
  }
  for (const auto& [name, value] : found) {
    if (!expected.contains(name)) differences.push_back({.name = name, .expected = kMissing, .found = Text(value)});
  }
  return differences;
}

std::vector<Difference> Differences(const TrainingState& expected, const TrainingState& found) {
  std::vector<Difference> arrays;
  std::vector<Difference> texts;
  for (const auto& [name, array] : expected) {
    const auto it = found.find(name);
    if (it == found.end()) {
      arrays.push_back({.name = name, .expected = Kind(array), .found = kMissing});
    } else if (array != it->second) {
      const std::optional<Json> was = JsonIn(array);
      const std::optional<Json> is = JsonIn(it->second);
      if (was.has_value() && is.has_value() && *was != *is) {
        Descend(*was, *is, texts.emplace_back(Difference{.name = name}));
      } else {
        arrays.push_back(Compare(name, array, it->second));
      }
    }
  }
  for (const auto& [name, array] : found) {
    if (!expected.contains(name)) arrays.push_back({.name = name, .expected = kMissing, .found = Kind(array)});
  }
  arrays.insert(arrays.end(), std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end()));
  return arrays;
}

}  // namespace espalier::trainer_check
