// Plateaus: stretches in which a computed value stays the same.
#pragma once

#include <algorithm>

#include "searchplan/sequence/segment_builder.h"

namespace espalier {

// A plateau of a computed value. Above 2^53 doubles are always whole, exact or not, so those are refused for integers.
// REQUIRES and other errors: as SegmentBuilder::Add.
Result<void> AddPlateau(double value, Step start, Step end, SegmentBuilder& segments);

// The first place after `place` where value_at(place) is another, but at most `end`. It may be very far: a power stays
// 0 once it underflows. REQUIRES: value_at is monotone from place to end.
template <class ValueAt>
std::int64_t NextChange(std::int64_t place, std::int64_t end, const ValueAt& value_at) {
  const double value = value_at(place);
  std::int64_t same = place;
  std::int64_t stride = 1;
  while (same + stride < end && value_at(same + stride) == value) {
    same += stride;
    stride *= 2;
  }
  std::int64_t changed = std::min(end, same + stride);
  while (changed - same > 1) {
    const std::int64_t middle = same + (changed - same) / 2;
    (value_at(middle) == value ? same : changed) = middle;
  }
  return changed;
}

}  // namespace espalier
