#include "base/check.h"
#include "searchplan/sequence/double_pair.h"
#include "searchplan/sequence/exact_math.h"

namespace espalier {
namespace {

constexpr DoublePair kPi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
constexpr DoublePair kHalfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr double kHalfPiRest = -0x1.f1976b7ed8fbcp-110;  // pi / 2 less kHalfPi
constexpr double kQuarterPi = 0x1.921fb54442d18p-1;

// 1 - u / ((k + 1)(k + 2)) * (1 - u / ((k + 3)(k + 4)) * (...)): the Taylor series of cos(t) for k = 0 and of sin(t) /
// t for k = 1, with u = t^2. The terms left out are below 2^-115 for t <= pi / 4.
DoublePair AlternatingSeries(DoublePair u, int k) {
  DoublePair sum{1, 0};
  for (int i = k + 28; i >= k; i -= 2) {
    const DoublePair term = Divide(Multiply(u, sum), static_cast<double>((i + 1) * (i + 2)));
    sum = Subtract({1, 0}, term);
  }
  return sum;
}

// REQUIRES: |angle| is at most about pi / 4.
DoublePair Cosine(DoublePair angle) { return AlternatingSeries(Multiply(angle, angle), 0); }
DoublePair Sine(DoublePair angle) { return Multiply(angle, AlternatingSeries(Multiply(angle, angle), 1)); }

// pi * numerator / denominator. REQUIRES: both are exact as doubles.
DoublePair AngleOfPi(std::int64_t numerator, std::int64_t denominator) {
  const DoublePair quotient = Divide({static_cast<double>(numerator), 0}, static_cast<double>(denominator));
  return Multiply(kPi, quotient);
}

// An angle as a whole number of quarter turns and what is left of it.
struct Quartered {
  std::int64_t quarters = 0;
  DoublePair angle;
};

// 2 * pi * numerator / denominator: the quarters exactly, since it is a ratio of whole numbers.
Quartered QuarteredTurn(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quarters = (8 * numerator + denominator) / (2 * denominator);
  const auto rest = static_cast<double>(4 * numerator - quarters * denominator);
  return {quarters, Multiply(kHalfPi, Divide({rest, 0}, static_cast<double>(denominator)))};
}

// The quarters times pi / 2 are subtracted part by part, so that what is left is right to the last bits of a pair.
Quartered QuarteredPhase(double phase) {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  const double quarters = phase * kTwoOverPi;
  const auto whole = static_cast<std::int64_t>(quarters < 0 ? quarters - 0.5 : quarters + 0.5);
  const auto count = static_cast<double>(whole);
  DoublePair angle = Subtract({phase, 0}, ExactProduct(count, kHalfPi.high));
  angle = Subtract(angle, ExactProduct(count, kHalfPi.low));
  return {whole, Subtract(angle, ExactProduct(count, kHalfPiRest))};
}

// With an angle of at most about pi / 4, of one up to pi / 2.
Quartered Reduced(Quartered a) {
  if (a.angle.high > kQuarterPi) return {a.quarters + 1, Subtract(Subtract(a.angle, kHalfPi), {kHalfPiRest, 0})};
  if (a.angle.high < -kQuarterPi) return {a.quarters - 1, Add(Add(a.angle, kHalfPi), {kHalfPiRest, 0})};
  return a;
}

}  // namespace

double CosineOfPi(std::int64_t numerator, std::int64_t denominator) {
  ESPALIER_CHECK(0 <= numerator && numerator <= denominator && 1 <= denominator &&
                 denominator <= std::int64_t{1} << 53);
  // Reduced to an angle of at most pi / 4, exactly, since it is a ratio of whole numbers.
  const bool mirrored = numerator > denominator - numerator;
  if (mirrored) numerator = denominator - numerator;
  const std::int64_t complement = denominator - 2 * numerator;  // of 2 * denominator
  const DoublePair cosine = 2 * numerator <= complement ? Cosine(AngleOfPi(numerator, denominator))
                                                        : Sine(AngleOfPi(complement, 2 * denominator));
  return mirrored ? 0.0 - cosine.high : cosine.high;
}

double CosineOfPiBetween(double x, double start, double end) {
  ESPALIER_CHECK(0 <= start && start <= x && x <= end && start < end && end <= 0x1p53);
  const DoublePair length = ExactSum(end, -start);
  const DoublePair before = ExactSum(x, -start);
  const DoublePair after = ExactSum(end, -x);
  const DoublePair ahead = Subtract(after, before);  // 0 in the middle
  const bool mirrored = ahead.high < 0;
  const DoublePair near = mirrored ? after : before;  // to the nearer end
  const DoublePair complement = mirrored ? Negate(ahead) : ahead;
  const DoublePair cosine = 2 * near.high <= complement.high ? Cosine(Multiply(kPi, Divide(near, length)))
                                                             : Sine(Multiply(kHalfPi, Divide(complement, length)));
  return mirrored ? 0.0 - cosine.high : cosine.high;
}

double CosineOfTurn(std::int64_t numerator, std::int64_t denominator, double phase) {
  ESPALIER_CHECK(0 <= numerator && numerator < denominator && denominator <= std::int64_t{1} << 53 &&
                 -kPhaseMax <= phase && phase <= kPhaseMax);
  const Quartered turn = QuarteredTurn(numerator, denominator);
  const Quartered shift = QuarteredPhase(phase);
  const Quartered sum = Reduced({turn.quarters + shift.quarters, Add(turn.angle, shift.angle)});
  switch (sum.quarters & 3) {
    case 0:
      return Cosine(sum.angle).high;
    case 1:
      return 0.0 - Sine(sum.angle).high;
    case 2:
      return 0.0 - Cosine(sum.angle).high;
    default:
      return Sine(sum.angle).high;
  }
}

}  // namespace espalier
