#include "master/core/views/node_walk.h"

namespace espalier::master {
namespace {

constexpr std::size_t kVisitedATurn = 2'000;

}  // namespace

Result<void> WalkNodes(const StateReader& read,
                       const std::function<bool(const MasterState&, const SearchPlan&)>& is_wanted,
                       const std::function<void(const SearchPlan&, const PlanNode&)>& visit) {
  PlanId next_plan{0};
  std::optional<PlanNodeId> last;  // visited, of the next plan; its nodes are added in order of id
  for (bool is_over = false; !is_over;) {
    ESPALIER_RETURN_IF_ERROR(read([&](const MasterState& state) {
      std::size_t left = kVisitedATurn;
      for (auto plan = state.plans.lower_bound(next_plan); plan != state.plans.end(); ++plan) {
        next_plan = plan->first;
        if (left == 0) return;
        --left;
        if (!is_wanted(state, plan->second)) continue;
        const PlanNodes& nodes = plan->second.nodes;
        for (auto node = last ? ++nodes.find(*last) : nodes.begin(); node != nodes.end(); ++node) {
          if (left == 0) return;
          --left;
          visit(plan->second, node->second);
          last = node->first;
        }
        last.reset();
      }
      is_over = true;
    }));
  }
  return {};
}

}  // namespace espalier::master
