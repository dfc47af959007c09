#include "master/core/views/node_costs.h"

namespace espalier::master {

NodeCosts CostsOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node) {
  NodeCosts known;
  const auto costs = state.costs.find(plan.cost_key);
  if (costs == state.costs.end()) return known;
  const Features features = FeaturesOf(node);
  for (std::size_t i = 0; i < kCostKindCount; ++i) {
    const auto kind = static_cast<CostKind>(i);
    const std::optional<double> cost = costs->second.Estimate(kind, features, MeasurementOf(node, kind));
    if (cost) known.emplace(kind, *cost);
  }
  return known;
}

}  // namespace espalier::master
