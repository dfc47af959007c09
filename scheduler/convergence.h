// How fast a training still converges, from the losses of its time slices (J. Son et al., Hermes, Electronics 10(3),
// 2021, section 3.3).
//
// The loss of a slice is the middle between the largest and the smallest reported in it, so that single losses that
// stand out count little. The *rate* is by how much it fell from slice to slice, for each loss reported; in the first
// slice, the span of its losses instead, which counts as negative where the last loss is above the first. Milestones
// are passed as the loss falls to a half, a quarter and an eighth of that of the first slice: the difference between
// two curves shrinks as they flatten, and slices that grow keep it measurable.
#pragma once

#include <cstdint>
#include <optional>

namespace espalier {

// Of one slice, as they are reported. Beyond a million, or not a number: training has diverged.
struct SliceLosses {
  std::int64_t count = 0;
  double first = 0;
  double last = 0;
  double least = 0;
  double most = 0;  // infinite: it has diverged
  void Add(double loss);
  friend bool operator==(const SliceLosses&, const SliceLosses&) = default;
};

struct Convergence {
  double rate = 0;        // for each loss reported; minus infinity: it has diverged, and nothing is hoped for
  double loss = 0;        // of the last slice
  double first_loss = 0;  // of the first slice
  int milestones = 0;     // passed; never fewer than before
  friend bool operator==(const Convergence&, const Convergence&) = default;
};

inline constexpr int kMilestones = 3;

// After one more slice; none before: the first. REQUIRES: slice.count > 0.
Convergence After(const std::optional<Convergence>& before, const SliceLosses& slice);

}  // namespace espalier
