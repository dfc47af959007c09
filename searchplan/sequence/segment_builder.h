// Collects the segments of one sequence, in order and in canonical form: a function that cannot change becomes a
// Constant, neighbours that are one function with one origin join, and every value is of the type and finite.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/sequence.h"

namespace espalier {

class SegmentBuilder {
 public:
  explicit SegmentBuilder(ValueType type) : type_(type) {}

  ValueType type() const { return type_; }

  // Appends the primitive, multiplied by the factors (none of them 0 or 1), on its own clock from `origin`, in force up
  // to `end`. REQUIRES: origin is the last piece's end, end > origin; anything but a Constant only where the type is
  // floating, and factors only for those. Error: kInvalidArgument when a value is
  // not of the type or not finite, with the step; kResourceExhausted over kSegmentCountMax segments.
  Result<void> Add(Step origin, Step end, const Primitive& primitive, std::vector<double> factors = {});

  const std::vector<Segment>& segments() const { return segments_; }
  std::vector<Segment> Take() { return std::move(segments_); }

 private:
  Result<void> Append(Step start, Function function);

  ValueType type_;
  std::vector<Segment> segments_;
};

}  // namespace espalier
