// What a fuzzer is given, as text; and how it says that a rule is broken: ESPALIER_CHECK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"

namespace espalier::fuzz {

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace espalier::fuzz
