#include "master/core/state/demand.h"

#include <algorithm>

namespace espalier::master {

Demand DemandAlong(const MasterState& state, const SearchPlan& plan, Point source, PlanNodeId first) {
  Demand demand;
  const auto demands = state.index.demands.find(plan.id);
  if (demands == state.index.demands.end()) return demand;
  for (const PathStage& stage : state.index.needs.at(plan.id).BestPath(plan, source, first)) {
    const auto at_node = demands->second.find(stage.node);
    if (at_node != demands->second.end()) demand = Larger(demand, at_node->second);
  }
  return demand;
}

bool Has(const Server& server, const Demand& demand) {
  return std::any_of(server.devices.begin(), server.devices.end(),
                     [&](const Device& device) { return SharesFor(device, demand) > 0; });
}

bool IsHad(const MasterState& state, const SearchPlan& plan, const Demand& demand) {
  return std::any_of(state.servers.begin(), state.servers.end(), [&](const auto& entry) {
    const Server& server = entry.second;
    return OfferOf(server, plan.trainer, plan.identity.device_kind) != nullptr && Has(server, demand);
  });
}

std::string Printed(const MasterState& state, const Run& run) {
  std::string text = std::to_string(run.slots);
  const auto server = state.servers.find(run.slot.server);
  const auto index = static_cast<std::size_t>(run.reservation.device);
  if (server != state.servers.end() && index < server->second.devices.size()) {
    const Device& device = server->second.devices[index];
    text += " of " + std::to_string(device.slots) + (device.slots == 1 ? " slot" : " slots") + " of " + device.name;
  } else {
    text += run.slots == 1 ? " slot" : " slots";
  }
  text += " on " + run.slot.server;
  if (run.reservation.memory_bytes == 0) return text;
  return text + ", " + std::to_string(run.reservation.memory_bytes) + " bytes of its memory";
}

void TakeDemand(MasterState& state, const SearchPlan& plan, PlanNodeId node) {
  Demand demand;
  for (const auto& [key, attempts] : plan.Node(node).results->attempts) {
    if (key.evaluation.empty()) demand = Larger(demand, attempts.demand);
  }
  auto& of_plan = state.index.demands[plan.id];
  if (demand == Demand{}) {
    of_plan.erase(node);
  } else {
    of_plan[node] = demand;
  }
  if (of_plan.empty()) state.index.demands.erase(plan.id);
}

}  // namespace espalier::master
