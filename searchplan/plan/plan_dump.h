// A search plan as text: the same for equal plans, for golden tests and logs.
#pragma once

#include <map>
#include <string>

#include "searchplan/plan/search_plan.h"

namespace espalier {

// The functions of `node` that differ from its parent's (at a root: all), in the notation, by hyper-parameter.
std::map<std::string, std::string> ChangedFunctions(const SearchPlan& plan, const PlanNode& node);

// One line for the plan's identity, then one a node, indented by depth, parents before children, children by id: start,
// changed functions, the steps of checkpoints, metrics and failures, trained ranges, claims.
std::string DumpPlan(const SearchPlan& plan);

}  // namespace espalier
