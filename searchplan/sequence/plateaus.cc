#include "searchplan/sequence/plateaus.h"

namespace espalier {

Result<void> AddPlateau(double value, Step start, Step end, SegmentBuilder& segments) {
  if (segments.type() == ValueType::kInteger && (value > 0x1p53 || value < -0x1p53)) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "at step " + std::to_string(start.value) + ": expected whole numbers up to 2^53, got " + Print(Value{value}));
  }
  return segments.Add(start, end, Constant{value});
}

}  // namespace espalier
