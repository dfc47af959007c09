// Plans as GetPlan answers them, put together for tests.
#pragma once

#include <string>

#include "espalier/v1/inspect.pb.h"

namespace espalier::testing {

// Of one trial, whose lr is `function` from `start` on. `parent` 0: a root.
inline v1::PlanNode& AddNode(v1::GetPlanResponse& plan, std::int64_t parent, std::int64_t start,
                             const std::string& function) {
  v1::PlanNode& node = *plan.add_nodes();
  node.set_plan_node_id(plan.nodes_size());
  node.set_parent_id(parent);
  node.set_start_step(start);
  node.set_trial_count(1);
  (*node.mutable_functions())["lr"] = function;
  return node;
}

inline v1::StageView& AddStage(v1::PlanNode& node, std::int64_t from, std::int64_t to, const std::string& state) {
  v1::StageView& stage = *node.add_stages();
  stage.set_from_step(from);
  stage.set_to_step(to);
  stage.set_state(state);
  return stage;
}

}  // namespace espalier::testing
