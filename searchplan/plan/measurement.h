// What training under a plan node was measured to cost, as it is stored: counts and totals, never means, so that what
// is made of many does not depend on the order in which they came. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace espalier {

// What is measured, and its unit. Times are in microseconds, sizes in bytes, utilization in thousandths.
enum class CostKind {
  kStep,          // training one step
  kSetUp,         // Init and Setup of a run that begins at Init
  kLoad,          // loading one state
  kSave,          // one state: from the step's end until it is written
  kEvaluate,      // one evaluation
  kMemory,        // the peak of one run's process there
  kStateBytes,    // one state, as stored
  kDeviceMemory,  // the peak of one run's GPU there
  kUtilization,   // thousandths of its GPU's time, as one look at it tells
};
inline constexpr std::size_t kCostKindCount = 9;

// "step", "set_up", "load", "save", "evaluate", "memory", "state_bytes", "device_memory", "utilization".
std::string_view Name(CostKind kind);
// Error: kInvalidArgument.
Result<CostKind> ParseCostKind(std::string_view name);

// Whether its unit is the microsecond.
bool IsTime(CostKind kind);

// Invariant: 0 <= count <= kMeasuredCountMax, 0 <= total <= kMeasuredTotalMax; total is 0 where count is.
struct Measurement {
  std::int64_t count = 0;  // of steps, runs, states, evaluations, looks; 0: nothing measured
  std::int64_t total = 0;  // microseconds, bytes or thousandths, of all of them
  friend bool operator==(const Measurement&, const Measurement&) = default;
};
inline constexpr std::int64_t kMeasuredCountMax = std::int64_t{1} << 40;
inline constexpr std::int64_t kMeasuredTotalMax = std::int64_t{1} << 62;

// Both together. Where that would pass a limit, `known` alone: who was measured so often has nothing more to learn.
Measurement Sum(Measurement known, Measurement more);

// Of one unit. REQUIRES: measurement.count > 0.
double Mean(Measurement measurement);

}  // namespace espalier
