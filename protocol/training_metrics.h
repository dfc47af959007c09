// Training metrics, as they are kept: a series of each training, the same series however it was cut into runs. Every
// step has its place in it up to kEveryStepTo; beyond, kStepsADoubling of them, evenly spaced, from each step to its
// double, so that a training of a million tiny steps keeps some 6,000.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace espalier {

inline constexpr std::int64_t kStepsADoubling = 512;
inline constexpr Step kEveryStepTo{2 * kStepsADoubling};

// Whether what the step returned is kept. REQUIRES: step > 0.
inline bool IsInSeries(Step step) {
  if (step <= kEveryStepTo) return true;
  const auto spacing = std::bit_floor(static_cast<std::uint64_t>((step.value - 1) / kStepsADoubling));
  return static_cast<std::uint64_t>(step.value) % spacing == 0;
}

// Of one batch, and of one step: of a trainer that returns more metrics, the first by name are kept.
inline constexpr std::size_t kBatchStepsMax = 1000;
inline constexpr std::size_t kTrainingMetricsMax = 64;

}  // namespace espalier
