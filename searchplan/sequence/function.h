// The primitive functions: what segments are made of after canonicalization, and their value at a step.
// A function is evaluated from its own parameters and its absolute origin, by one routine whose bits are the same on
// every machine (sequences.md, "Arithmetic"): never from a running value, never through libm.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/value.h"

namespace espalier {

// value, of any type; has no origin.
struct Constant {
  Value value;
  friend bool operator==(const Constant&, const Constant&) = default;
};

// init + slope * x
struct Linear {
  double init = 0;
  double slope = 0;
  friend bool operator==(const Linear&, const Linear&) = default;
};

// init * gamma^x
struct Exponential {
  double init = 0;
  double gamma = 1;
  friend bool operator==(const Exponential&, const Exponential&) = default;
};

// One period of a cosine: init - (init - min_y) * ((1 - cos(pi * x / period)) / 2), 0 <= x < period.
struct CosinePeriod {
  double init = 0;
  double min_y = 0;
  std::int64_t period = 1;
  friend bool operator==(const CosinePeriod&, const CosinePeriod&) = default;
};

// end + (init - end) * (1 - x / period)^power, 0 <= x < period.
struct Polynomial {
  double init = 0;
  std::int64_t period = 1;
  double power = 1;
  double end = 0;
  friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

// init / sqrt((x + timescale) / timescale)
struct InverseSqrt {
  double init = 0;
  double timescale = 1;
  friend bool operator==(const InverseSqrt&, const InverseSqrt&) = default;
};

// One period of a sinusoid: offset + magnitude * cos(2 * pi * x / period + phase), 0 <= x < period.
struct SinusoidPeriod {
  double magnitude = 0;
  std::int64_t period = 1;
  double phase = 0;
  double offset = 0;
  friend bool operator==(const SinusoidPeriod&, const SinusoidPeriod&) = default;
};

enum class Anneal : std::uint8_t { kCosine, kLinear };

// "cos" or "linear".
std::string_view Name(Anneal anneal);

// One phase of a OneCycle, which goes from a value to another between two places on its clock, whole or not: with
// q = (x - start) / (end - start), `to + (from - to) * ((1 + cos(pi * q)) / 2)` or `from + (to - from) * q`.
// The function's origin is the phase's first whole place, x = FirstPlace(phase): 0 if start is 0, else the first
// after start; the place of start itself belongs to the phase before. x <= end.
struct OneCyclePhase {
  double from = 0;
  double to = 0;
  double start = 0;
  double end = 1;
  Anneal anneal = Anneal::kCosine;
  friend bool operator==(const OneCyclePhase&, const OneCyclePhase&) = default;
};

std::int64_t FirstPlace(const OneCyclePhase& phase);

enum class CooldownShape : std::uint8_t { kSqrt, kSquare, kMirrorCosine };

// "sqrt", "square" or "mirror_cosine".
std::string_view Name(CooldownShape shape);

// A decay that is neither a ramp nor a cosine: init - (init - min_y) * s, with u = x / period, 0 <= x < period, and s
// sqrt(u), u * u, or 2 * u - (1 - cos(pi * x / period)) / 2. "1-sqrt" of Haegele et al. 2024, section 3, is the first.
struct CooldownPeriod {
  double init = 0;
  double min_y = 0;
  std::int64_t period = 1;
  CooldownShape shape = CooldownShape::kSqrt;
  friend bool operator==(const CooldownPeriod&, const CooldownPeriod&) = default;
};

using Primitive = std::variant<Constant, Linear, Exponential, CosinePeriod, Polynomial, InverseSqrt, SinusoidPeriod,
                               OneCyclePhase, CooldownPeriod>;

// x = step - origin. Invariant: a Constant's origin is Step{0} and it has no factors; parameters and factors are finite
// and never -0.0.
struct Function {
  Primitive primitive;
  Step origin;
  // Multiply the primitive's value one after another, the first one first: never folded, since that changes bits.
  std::vector<double> factors = {};
  friend bool operator==(const Function&, const Function&) = default;
};

// The value at an absolute step. REQUIRES: step >= function.origin.
Value At(const Function& function, Step step);

// The canonical bytes: one encoding a function, with a leading version; equal functions and only those have equal
// bytes. They travel to node managers and are stored in the database. Frozen by a golden test.
std::string CanonicalBytes(const Function& function);

// Back again. Error: kInvalidArgument when the bytes are not what CanonicalBytes writes.
Result<Function> ParseCanonicalBytes(std::string_view bytes);

// In the notation, on its own clock, with its origin if that is not 0: "Exponential(0.1, 0.95) from 40". For people.
std::string Print(const Function& function);

}  // namespace espalier
