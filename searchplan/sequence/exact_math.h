// Cosines and powers whose bits are the same on every machine: plain + - * / and square roots on doubles and on pairs
// of doubles (double_pair.h), argument and function, rounded to a double once, at the end. No libm, no fused
// operations: the build turns contraction off.
#pragma once

#include <cstdint>

namespace espalier {

// cos(pi * numerator / denominator). REQUIRES: 0 <= numerator <= denominator, 1 <= denominator <= 2^53.
double CosineOfPi(std::int64_t numerator, std::int64_t denominator);

// cos(pi * (x - start) / (end - start)). REQUIRES: 0 <= start <= x <= end <= 2^53, start < end.
double CosineOfPiBetween(double x, double start, double end);

inline constexpr double kPhaseMax = 0x1p53;

// cos(2 * pi * numerator / denominator + phase), the phase in radians.
// REQUIRES: 0 <= numerator < denominator <= 2^53, |phase| <= kPhaseMax.
double CosineOfTurn(std::int64_t numerator, std::int64_t denominator, double phase);

// base^exponent: infinite above the range of doubles, a denormal or 0 below it.
// REQUIRES: base is finite and > 0, 0 <= exponent <= 2^53.
double WholePower(double base, std::int64_t exponent);

// (numerator / denominator)^exponent: 0 or a denormal where it is small. By powering, and a square root, where twice
// the exponent is whole; by logarithm and exponential otherwise.
// REQUIRES: 1 <= numerator <= denominator <= 2^53, exponent is finite and > 0.
double PowerOfRatio(std::int64_t numerator, std::int64_t denominator, double exponent);

}  // namespace espalier
