// What training under a plan node costs, for people: measured there, else estimated from the like of it.
#pragma once

#include <map>

#include "master/core/state/master_state.h"

namespace espalier::master {

// Of one unit of each kind, in the kind's unit; kinds that were never measured of such a training are left out.
using NodeCosts = std::map<CostKind, double>;

// O(kinds x hyper-parameters), after new measurements CostSums::Estimate's cost. Nothing is guessed.
NodeCosts CostsOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node);

}  // namespace espalier::master
