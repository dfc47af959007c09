// What training under one plan node costs: measured there, else estimated from the like of it (scheduler/cost_sums.h).
#pragma once

#include <optional>

#include "base/units.h"
#include "scheduler/cost_sums.h"
#include "searchplan/plan/plan_node.h"

namespace espalier {

// A value for as long as sums and node stand as they are: made where it is asked, and not kept. Not thread-safe.
class NodePrices {
 public:
  // Null: nothing was measured of such a training.
  NodePrices(const CostSums* sums, const PlanNode& node);

  // Whether it, or the like of it, was measured in this kind; if not, Time is a guess. O(1).
  bool IsMeasured(CostKind kind) const;
  // Of one unit: CostSums::Estimate. The first that has to be estimated costs FeaturesOf on top.
  std::optional<double> Estimate(CostKind kind);
  // Of one unit: CostSums::Time. REQUIRES: IsTime(kind).
  Seconds Time(CostKind kind);

 private:
  // What an estimate of the kind needs.
  const Features& FeaturesFor(CostKind kind);

  const CostSums* sums_;
  const PlanNode* node_;
  std::optional<Features> features_;
};

}  // namespace espalier
