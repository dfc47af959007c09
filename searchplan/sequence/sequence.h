// The values of one hyper-parameter over the steps, in canonical form: segments under one primitive function each.
// Two sequences related by the rewrites of sequences.md have the same segments as far as their values are equal.
#pragma once

#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/expression.h"
#include "searchplan/sequence/function.h"

namespace espalier {

// Holds from `start` to the next segment's start, the last one to the sequence's horizon.
struct Segment {
  Step start;
  Function function;
  friend bool operator==(const Segment&, const Segment&) = default;
};

// At most this many segments in a sequence, and joint segments in a trial.
inline constexpr std::size_t kSegmentCountMax = 1'000'000;

// Invariant: segments is not empty, its first start is Step{0}, starts are strictly increasing and below the horizon;
// neighbours differ in function.
struct Sequence {
  ValueType type = ValueType::kFloating;
  std::vector<Segment> segments;
  Step horizon;
  friend bool operator==(const Sequence&, const Sequence&) = default;
};

// Compiles what a user wrote into canonical form up to `horizon` (1 <= horizon <= kStepMax).
// Error: kInvalidArgument for what sequences.md calls nonsense (bad periods or milestones, a value that is not finite,
// not of `type`, or not whole, at some step below the horizon); kResourceExhausted over kSegmentCountMax segments. The
// message names the family, the argument or the step, and what is expected.
Result<Sequence> Compile(const Expression& expression, ValueType type, Step horizon);

// As Compile, with the rules of the hyper-parameter: one that is `initial` takes a Constant only. The error's field is
// empty.
Result<Sequence> CompileFor(const HyperParameter& hyper_parameter, const Expression& expression, Step horizon);

// The function in force at `step`. REQUIRES: 0 <= step < horizon.
const Function& FunctionAt(const Sequence& sequence, Step step);
Value At(const Sequence& sequence, Step step);

// In the notation; parses and compiles back to the same segments.
std::string PrintCanonical(const Sequence& sequence);

// Of the canonical bytes of type and segments.
Digest128 DigestOf(const Sequence& sequence);

}  // namespace espalier
