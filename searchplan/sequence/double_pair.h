// Pairs of doubles: the unevaluated sum of two, about 106 bits, with plain + - * / only, so that their bits are the
// same on every machine. What exact_math.h computes in, before it rounds once.
#pragma once

namespace espalier {

// high + low, where high is their sum rounded to a double.
struct DoublePair {
  double high = 0;
  double low = 0;
};

// The exact sum, of any two doubles (Knuth).
inline DoublePair ExactSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// The exact sum. REQUIRES: |a| >= |b| or a == 0 (Dekker).
inline DoublePair ExactSumOrdered(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// Halves of 26 bits each, so that their products are exact. REQUIRES: |a| < 2^996.
inline DoublePair Split(double a) {
  const double scaled = 134217729.0 * a;  // 2^27 + 1
  const double high = scaled - (scaled - a);
  return {high, a - high};
}

// The exact product (Dekker).
inline DoublePair ExactProduct(double a, double b) {
  const double product = a * b;
  const DoublePair x = Split(a);
  const DoublePair y = Split(b);
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

inline DoublePair Add(DoublePair a, DoublePair b) {
  const DoublePair high = ExactSum(a.high, b.high);
  const DoublePair low = ExactSum(a.low, b.low);
  const DoublePair sum = ExactSumOrdered(high.high, high.low + low.high);
  return ExactSumOrdered(sum.high, sum.low + low.low);
}

inline DoublePair Negate(DoublePair a) { return {-a.high, -a.low}; }

inline DoublePair Subtract(DoublePair a, DoublePair b) { return Add(a, Negate(b)); }

inline DoublePair Multiply(DoublePair a, DoublePair b) {
  const DoublePair product = ExactProduct(a.high, b.high);
  return ExactSumOrdered(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline DoublePair Divide(DoublePair a, double b) {
  const double first = a.high / b;
  const DoublePair remainder = Subtract(a, ExactProduct(first, b));
  const double second = remainder.high / b;
  const DoublePair rest = Subtract(remainder, ExactProduct(second, b));
  return Add(ExactSumOrdered(first, second), {rest.high / b, 0});
}

inline DoublePair Divide(DoublePair a, DoublePair b) {
  const double first = a.high / b.high;
  const DoublePair remainder = Subtract(a, Multiply({first, 0}, b));
  const double second = remainder.high / b.high;
  const DoublePair rest = Subtract(remainder, Multiply({second, 0}, b));
  return Add(ExactSumOrdered(first, second), {rest.high / b.high, 0});
}

}  // namespace espalier
