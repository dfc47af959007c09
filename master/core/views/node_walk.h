// Walks plan nodes in turns, so that the event loop is never held for long.
#pragma once

#include <functional>

#include "master/core/views/state_reader.h"

namespace espalier::master {

// Visits, on the event loop, each node once of the plans that are wanted; nodes that are added meanwhile too, or not.
// A plan is asked about before its nodes are visited, in each turn anew.
// Turns: 1 + (nodes of these plans + all plans) / 2,000. Error: the reader's.
Result<void> WalkNodes(const StateReader& read,
                       const std::function<bool(const MasterState&, const SearchPlan&)>& is_wanted,
                       const std::function<void(const SearchPlan&, const PlanNode&)>& visit);

}  // namespace espalier::master
