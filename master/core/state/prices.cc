#include "master/core/state/prices.h"

namespace espalier::master {

NodePrices PricesOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node) {
  const auto costs = state.costs.find(plan.cost_key);
  return {costs == state.costs.end() ? nullptr : &costs->second, node};
}

std::vector<NodePrices> PricesAlong(const MasterState& state, const Run& run) {
  const SearchPlan& plan = state.plans.at(run.plan);
  const auto costs = state.costs.find(plan.cost_key);
  const CostSums* sums = costs == state.costs.end() ? nullptr : &costs->second;
  std::vector<NodePrices> prices;
  prices.reserve(run.path.size());
  for (const PathStage& stage : run.path) prices.emplace_back(sums, plan.Node(stage.node));
  return prices;
}

}  // namespace espalier::master
