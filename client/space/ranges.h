// Ranges: what stands in the place of a value, or of any argument of a sequence, where it is to be drawn.
//   uniform(a, b)      a number from a to b
//   loguniform(a, b)   the same, its logarithm uniform; a > 0
//   integer(a, b)      a whole number from a to b, both included
//   choice(x, y, ...)  one of these: values, sequences, and ranges again
// Numbers are drawn to six significant digits, within the bounds. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "searchplan/sequence/expression.h"

namespace espalier {

// Which of `count` a number in [0, 1) chooses, each as likely. REQUIRES: count > 0.
std::size_t ChosenOf(std::size_t count, double number);

// How many there are in the expression, within each other too.
std::size_t RangeCount(const Expression& expression);

// Error: kInvalidArgument where a range's arguments are not as above.
Result<void> CheckRanges(const Expression& expression);

// Gives the next number, in [0, 1).
using NextNumber = std::function<double()>;

// With a value in the place of each range. Takes RangeCount(expression) numbers, whatever is chosen: in the order in
// which the ranges are written, each before those within it. REQUIRES: CheckRanges.
Expression Drawn(const Expression& expression, const NextNumber& next);

}  // namespace espalier
