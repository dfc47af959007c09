// What canonical form and the check of values ask of each primitive function: whether it varies, is monotone, is
// finite. Each is one visit of all of them, so that a new primitive breaks the build until it has answered all three.
#pragma once

#include <optional>

#include "searchplan/sequence/function.h"

namespace espalier {

// The value of a primitive that is the same at every step it is in force; none: it varies, or may. O(1).
std::optional<Value> ConstantValue(const Primitive& primitive);

// Whether its values only grow, or only fall, in their last bits too. O(1).
bool IsMonotone(const Primitive& primitive);

// The first step of the function's from its origin to `last` whose value is not finite, or none; the origin, if it
// might have one and none can be named. O(log(last - origin)) evaluations. REQUIRES: ConstantValue has none.
std::optional<Step> FirstNotFinite(const Function& function, Step last);

}  // namespace espalier
