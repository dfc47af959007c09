// The names of an enumeration's values, written once for printing and parsing:
//   constexpr EnumName<Goal> kGoals[] = {{Goal::kMinimize, "min"}, {Goal::kMaximize, "max"}};
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

// Empty if the value has no name.
template <class Enum, std::size_t count>
std::string_view NameIn(const EnumName<Enum> (&names)[count], Enum value) {
  for (const EnumName<Enum>& each : names) {
    if (each.value == value) return each.name;
  }
  return "";
}

// Error: kInvalidArgument: "expected min or max, got 'least'".
template <class Enum, std::size_t count>
Result<Enum> ParseIn(const EnumName<Enum> (&names)[count], std::string_view name) {
  std::string expected;
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i].name == name) return names[i].value;
    expected += (i == 0 ? "" : i + 1 < count ? ", " : " or ") + std::string(names[i].name);
  }
  return MakeError(ErrorCode::kInvalidArgument, "expected " + expected + ", got '" + std::string(name) + "'");
}

}  // namespace espalier
