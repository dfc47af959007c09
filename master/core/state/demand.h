// How much of a device training takes that was out of memory with less (scheduler/demand.h), as the attempts at the
// plan nodes say where that happened.
#pragma once

#include <string>
#include <vector>

#include "master/core/state/master_state.h"
#include "scheduler/demand.h"

namespace espalier::master {

// Of the best path from `source` by its successor `first`: the greatest of its stages. O(stages log), and O(log) for a
// plan in which nothing was ever out of memory.
Demand DemandAlong(const MasterState& state, const SearchPlan& plan, Point source, PlanNodeId first);

// Whether one of its devices has so much, idle or not. O(devices).
bool Has(const Server& server, const Demand& demand);

// Whether some server that offers what the plan trains by has a device that has so much. O(servers x devices).
bool IsHad(const MasterState& state, const SearchPlan& plan, const Demand& demand);

// "2 of 4 slots of gpu-0 on server-1, 8589934592 bytes of its memory"
std::string Printed(const MasterState& state, const Run& run);

// The demand at the node has changed, as the attempts there say.
void TakeDemand(MasterState& state, const SearchPlan& plan, PlanNodeId node);

}  // namespace espalier::master
