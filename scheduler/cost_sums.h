// The cost model (TreeML 5.2): what training takes under a plan node. Measured where the node was, else estimated from
// other nodes of the same training identity and device kind by linear regression over hyper-parameter values.
//
// Kept by sums of what is stored of the nodes, never recomputed from a plan: one node's change costs the same in a plan
// of ten nodes and of a million. The sums are exact integers (scheduler/regression_sums.h): the same measurements give
// the same bits whatever the order in which they were stored, replaced, loaded again, or added up from parts.
//
// An estimate is honest outside of what was measured: each hyper-parameter counts as the nearest measured value of its
// own, so that no line is drawn out into nonsense; nothing is free or endless: at least a hundredth of the least
// measured mean and at most 8 times the largest, which are known within a factor of two (scheduler/magnitudes.h), on
// the side that keeps the promise.
//
// A value; under 30 kB a kind of cost at 48 varying hyper-parameters, 2 kB at five. Not thread-safe, not even for
// reading: solutions are kept.
//
// In the costs of calls, n is the number of a node's hyper-parameters and c of those that vary among the measured
// nodes, at most 48: of more, the first.
#pragma once

#include <array>
#include <optional>

#include "base/units.h"
#include "scheduler/cost_features.h"
#include "scheduler/magnitudes.h"
#include "scheduler/regression_sums.h"
#include "searchplan/plan/measurement.h"

namespace espalier {

class CostSums {
 public:
  // What is stored of a node of these features was `before`, and is `after`. Up to 1024 units weigh what they count; a
  // node measured more often weighs no more. O(n + c^2), and O(c^2) for each hyper-parameter that first varies here.
  // REQUIRES: `before` is what was last given of this node (count 0: nothing yet); after.count > 0; fewer than 2^28
  // nodes.
  void Replace(CostKind kind, const Features& features, Measurement before, Measurement after);

  // With the nodes of `other`, none of which is among these: of another plan, say, that the asking team may know.
  // O(n + c^2) for each kind; O(c^2) for each hyper-parameter that varies in one alone.
  CostSums& operator+=(const CostSums& other);

  // Whether any node was, in this kind; if not, Time is a guess. O(1).
  bool IsMeasured(CostKind kind) const;

  // Of one unit at a node of these features, of which `own` is stored, in microseconds or bytes, > 0: the mean of
  // `own`; if nothing, by regression. None: no node was measured. O(1) with `own`, else O(n + c), after a change
  // O(c^3).
  std::optional<double> Estimate(CostKind kind, const Features& features, Measurement own = {}) const;

  // The same of a time; where no node was measured, 1 second. REQUIRES: IsTime(kind).
  Seconds Time(CostKind kind, const Features& features, Measurement own = {}) const;

  // That the sums are the same; then so is every estimate.
  friend bool operator==(const CostSums&, const CostSums&) = default;

 private:
  struct OneKind {
    RegressionSums regression;
    Magnitudes means;
    friend bool operator==(const OneKind&, const OneKind&) = default;
  };
  const OneKind& Of(CostKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  std::array<OneKind, kCostKindCount> kinds_;
};

// What is to be stored (added to `own` by Sum) of a report about a node of which `own` is stored: the report itself
// where its mean is within 1/8 to 8 times the estimate that stands (CostSums::Estimate); else what is nearest to it
// within that, in whole microseconds or bytes, for no more units than `own` has, and at least one. So a report that
// contradicts what stands is believed in its direction, not in its weight: an absurd one, of a machine that slept,
// harms little, and true ones prevail. An estimate below 1 counts as 1 for the upper limit, or nothing could rise from
// 0. O(1). REQUIRES: reported.count > 0.
//
// The first measurement of a training identity has nothing to be held against and is stored as it is, be it an outlier:
// a first step that compiles kernels. Later reports move the estimate by a factor of at most 8 each: downwards by about
// 16/9 (as many units again at 1/8) until it is within 8 times the truth, from where they count in full. A first
// measurement a thousand times too large is so outlived in some ten reports. A real change, a faster data disk, is
// followed in the same way and never refused. What is stored depends on the order of the reports; what is made of what
// is stored does not.
Measurement Clipped(std::optional<double> estimate, Measurement own, Measurement reported);

}  // namespace espalier
