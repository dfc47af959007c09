#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "searchplan/sequence/double_pair.h"
#include "searchplan/sequence/exact_math.h"

namespace espalier {
namespace {

// A pair times a power of two, with high kept in [1, 2): partial powers neither overflow nor lose bits.
struct Scaled {
  DoublePair pair;
  std::int64_t exponent = 0;
};

Scaled Normalize(Scaled a) {
  if (a.pair.high >= 2) return {{a.pair.high * 0.5, a.pair.low * 0.5}, a.exponent + 1};
  if (a.pair.high < 1) return {{a.pair.high * 2, a.pair.low * 2}, a.exponent - 1};
  return a;
}

Scaled Multiply(const Scaled& a, const Scaled& b) {
  return Normalize({Multiply(a.pair, b.pair), a.exponent + b.exponent});
}

constexpr int kMantissaBits = 52;
constexpr std::int64_t kExponentMin = -1022;
constexpr std::int64_t kExponentMax = 1023;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;

Scaled ScaledOf(double a) {
  constexpr double kTwoTo54 = 18014398509481984.0;
  std::int64_t exponent = 0;
  if (a < std::numeric_limits<double>::min()) {
    a *= kTwoTo54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(a);
  exponent += static_cast<std::int64_t>(bits >> kMantissaBits) - kExponentMax;
  const auto mantissa = std::bit_cast<double>((bits & kMantissaMask) | std::bit_cast<std::uint64_t>(1.0));
  return {{mantissa, 0}, exponent};
}

// REQUIRES: kExponentMin <= exponent <= kExponentMax.
double PowerOfTwo(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kExponentMax) << kMantissaBits);
}

// To nearest, ties to even, also where the result is a denormal.
double Round(const Scaled& a) {
  if (a.exponent > kExponentMax) return std::numeric_limits<double>::infinity();
  const auto bits = std::bit_cast<std::uint64_t>(a.pair.high);
  if (a.exponent >= kExponentMin) {
    return std::bit_cast<double>(bits + (static_cast<std::uint64_t>(a.exponent) << kMantissaBits));
  }
  const std::int64_t shift = kExponentMin - a.exponent;
  if (shift > kMantissaBits + 1) return 0;
  const std::uint64_t mantissa = (bits & kMantissaMask) | (kMantissaMask + 1);
  const std::uint64_t kept = mantissa >> shift;
  const std::uint64_t lost = mantissa - (kept << shift);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool tie_goes_up = a.pair.low > 0 || (a.pair.low == 0 && kept % 2 == 1);
  const bool up = lost > half || (lost == half && tie_goes_up);
  return std::bit_cast<double>(kept + (up ? 1 : 0));
}

// base^exponent, or only its being out of range: partial powers go monotonically towards it, from the highest bit.
Scaled Raised(const Scaled& base, std::int64_t exponent) {
  Scaled power{{1, 0}, 0};
  for (int bit = std::bit_width(static_cast<std::uint64_t>(exponent)) - 1; bit >= 0; --bit) {
    power = Multiply(power, power);
    if ((exponent >> bit) & 1) power = Multiply(power, base);
    if (power.exponent > kExponentMax || power.exponent < 2 * kExponentMin) break;
  }
  return power;
}

// A pair from 2^-53 to 1.
Scaled ScaledOf(DoublePair a) {
  const std::int64_t exponent = ScaledOf(a.high).exponent;
  const double scale = PowerOfTwo(-exponent);
  return {{a.high * scale, a.low * scale}, exponent};
}

DoublePair SquareRoot(DoublePair a) {
  const double root = std::sqrt(a.high);
  const DoublePair rest = Subtract(a, ExactProduct(root, root));
  return Add({root, 0}, {rest.high / (2 * root), 0});
}

constexpr DoublePair kLogarithmOf2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// log(numerator / denominator), right to the last bits of a pair also where the ratio is close to 1:
// k * log(2) + 2 * artanh(s), s = (numerator - scaled) / (numerator + scaled), scaled = denominator * 2^k, |s| < 0.172.
DoublePair LogarithmOfRatio(std::int64_t numerator, std::int64_t denominator) {
  constexpr double kSquareRootOf2 = 0x1.6a09e667f3bcdp+0;
  const auto over = static_cast<double>(numerator);
  const auto under = static_cast<double>(denominator);
  const Scaled quotient = ScaledOf(over / under);
  const std::int64_t k = quotient.exponent + (quotient.pair.high > kSquareRootOf2 ? 1 : 0);
  const double scaled = under * PowerOfTwo(k);
  const DoublePair s = Divide(ExactSum(over, -scaled), ExactSum(over, scaled));
  const DoublePair square = Multiply(s, s);
  DoublePair series;
  for (int i = 23; i >= 0; --i) series = Add(Divide({1, 0}, 2.0 * i + 1), Multiply(square, series));
  const DoublePair half = Multiply(s, series);
  return Add(Multiply({static_cast<double>(k), 0}, kLogarithmOf2), Add(half, half));
}

// REQUIRES: -2000 <= a <= 0.
Scaled ExponentialOf(DoublePair a) {
  const auto k = static_cast<std::int64_t>(a.high / kLogarithmOf2.high - 0.5);
  const DoublePair rest = Subtract(a, Multiply({static_cast<double>(k), 0}, kLogarithmOf2));
  DoublePair series{1, 0};
  for (int i = 28; i >= 1; --i) series = Add({1, 0}, Divide(Multiply(rest, series), i));
  return Normalize({series, k});
}

}  // namespace

double WholePower(double base, std::int64_t exponent) {
  ESPALIER_CHECK(base > 0 && base <= std::numeric_limits<double>::max() && exponent >= 0);
  return Round(Raised(ScaledOf(base), exponent));
}

double PowerOfRatio(std::int64_t numerator, std::int64_t denominator, double exponent) {
  ESPALIER_CHECK(1 <= numerator && numerator <= denominator && denominator <= std::int64_t{1} << 53 && exponent > 0 &&
                 exponent <= std::numeric_limits<double>::max());
  if (numerator == denominator) return 1;
  if (exponent <= 0x1p53 && std::floor(2 * exponent) == 2 * exponent) {
    const DoublePair ratio = Divide({static_cast<double>(numerator), 0}, static_cast<double>(denominator));
    const auto whole = static_cast<std::int64_t>(exponent);
    Scaled power = Raised(ScaledOf(ratio), whole);
    if (static_cast<double>(whole) != exponent) power = Multiply(power, ScaledOf(SquareRoot(ratio)));
    return Round(power);
  }
  const DoublePair logarithm = LogarithmOfRatio(numerator, denominator);
  if (exponent * logarithm.high < -2000) return 0;
  return Round(ExponentialOf(Multiply({exponent, 0}, logarithm)));
}

}  // namespace espalier
