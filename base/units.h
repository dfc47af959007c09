// Units as types. A Step as a point means: after that many calls of Train; the next call uses the values at x = step.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace espalier {

struct Step {
  std::int64_t value = 0;
  friend auto operator<=>(const Step&, const Step&) = default;
  friend Step operator+(Step step, std::int64_t count) { return Step{step.value + count}; }
  friend Step operator-(Step step, std::int64_t count) { return Step{step.value - count}; }
  friend std::int64_t operator-(Step later, Step earlier) { return later.value - earlier.value; }
};

// The largest step that a double holds exactly, 2^53: the longest horizon a trial may have.
inline constexpr Step kStepMax{std::int64_t{1} << 53};

// What one call of Train does.
struct StepMeaning {
  std::int64_t updates = 0;  // optimizer updates; 0: an epoch, one pass over the training data
  friend auto operator<=>(const StepMeaning&, const StepMeaning&) = default;
};

// Seconds with a fraction: measured durations and estimates.
using Seconds = std::chrono::duration<double>;

// A moment by a clock that never goes back and means nothing to other processes: for leases and other patience. Pure
// code is given it and never reads it.
using Moment = std::chrono::time_point<std::chrono::steady_clock, Seconds>;

// A moment by the wall clock, as stored in the database. Pure code is given it and never reads it.
using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

}  // namespace espalier
