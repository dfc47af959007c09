// A sequence that leaves another one at a step.
#pragma once

#include "base/units.h"
#include "searchplan/sequence/expression.h"

namespace espalier {

// As `before` up to step `at`, then `after` on its own clock: a Piecewise. Where `before` is a Piecewise itself, it is
// one more piece of it, without those that would begin at `at` or later; so branching again and again nests nothing.
// REQUIRES: at >= 1.
Expression Branched(const Expression& before, Step at, const Expression& after);

}  // namespace espalier
