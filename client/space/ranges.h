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
#include <vector>

#include "base/result.h"
#include "searchplan/sequence/expression.h"

namespace espalier {

// Which of `count` a number in [0, 1) chooses, each as likely. REQUIRES: count > 0.
std::size_t ChosenOf(std::size_t count, double number);

// What a number in [0, 1) stands for.
struct Dimension {
  std::size_t choices = 0;  // which of so many; 0: where in a range of numbers
};

// Of each range in the expression, within each other too, in the order in which Drawn takes its numbers.
std::vector<Dimension> RangesOf(const Expression& expression);

// Error: kInvalidArgument where a range's arguments are not as above.
Result<void> CheckRanges(const Expression& expression);

// Whether it is one range of numbers.
bool IsNumberRange(const Expression& expression);

// A value that was drawn from the range, times `factor`, within its bounds: to six significant digits, a whole number
// rounded away from what it was. REQUIRES: CheckRanges, IsNumberRange.
Value Scaled(const Expression& range, const Value& value, double factor);

// Gives the next number, in [0, 1).
using NextNumber = std::function<double()>;

// With a value in the place of each range. Takes a number for each of RangesOf(expression), whatever is chosen: in the
// order in which the ranges are written, each before those within it. REQUIRES: CheckRanges.
Expression Drawn(const Expression& expression, const NextNumber& next);

}  // namespace espalier
