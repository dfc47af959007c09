// The values of a sequence by another road than the one under test: the formulas of docs/sequences.md, applied to the
// expression as written, step by step, without segments. Only the powers and cosines are the same units.
#pragma once

#include "searchplan/sequence/expression.h"

namespace espalier {

// REQUIRES: the expression compiles as `type` up to a horizon over x.
Value DirectValue(const Expression& expression, ValueType type, std::int64_t x);

}  // namespace espalier
