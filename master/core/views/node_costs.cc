#include "master/core/views/node_costs.h"

#include "master/core/state/prices.h"

namespace espalier::master {

NodeCosts CostsOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node) {
  NodeCosts known;
  NodePrices prices = PricesOf(state, plan, node);
  for (std::size_t i = 0; i < kCostKindCount; ++i) {
    const auto kind = static_cast<CostKind>(i);
    const std::optional<double> cost = prices.Estimate(kind);
    if (cost) known.emplace(kind, *cost);
  }
  return known;
}

}  // namespace espalier::master
