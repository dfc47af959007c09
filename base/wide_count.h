// Sums of products of counts, which 64 bits do not hold: the time that 2^53 steps of many trials take.
#pragma once

#include <chrono>
#include <string>

#include "base/units.h"

namespace espalier {

using WideCount = __int128;

inline constexpr WideCount kWideCountMax = static_cast<WideCount>(~static_cast<unsigned __int128>(0) >> 1U);

// In decimal digits.
std::string Print(WideCount count);

inline Seconds SecondsOfMicroseconds(WideCount count) {
  return std::chrono::duration<double, std::micro>(static_cast<double>(count));
}

}  // namespace espalier
