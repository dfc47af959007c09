// What training costs at a plan node, and along a run's path, as far as the plan's kind of training was measured.
#pragma once

#include <vector>

#include "master/core/state/master_state.h"
#include "scheduler/node_prices.h"

namespace espalier::master {

// O(log kinds of training).
NodePrices PricesOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node);

// For each stage of the run's path, in its order. O(path).
std::vector<NodePrices> PricesAlong(const MasterState& state, const Run& run);

}  // namespace espalier::master
