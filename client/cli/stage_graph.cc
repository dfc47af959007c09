#include "client/cli/stage_graph.h"

#include <map>
#include <set>
#include <utility>

namespace espalier {
namespace {

bool IsToDo(const v1::StageView& view) { return view.state() == "running" || view.state() == "waiting"; }

// By plan node: where stages end although their state does not change.
std::map<std::int64_t, std::set<std::int64_t>> CutsOf(const v1::GetPlanResponse& plan) {
  std::map<std::int64_t, std::set<std::int64_t>> cuts;
  for (const v1::PlanNode& node : plan.nodes()) {
    cuts[node.parent_id()].insert(node.start_step());
    for (const v1::PlanClaims& claims : node.claims()) {
      if (claims.state() == "waiting") cuts[node.plan_node_id()].insert(claims.step());
    }
  }
  return cuts;
}

// What the stage adds to a path.
double Weight(const GraphStage& stage) {
  if (!IsToDo(*stage.view)) return 0;
  return stage.seconds.value_or(static_cast<double>(stage.to - stage.from));
}

void MarkCriticalPath(StageGraph& graph) {
  std::vector<double> sums;  // from the root, the stage included
  std::size_t last = 0;
  for (const GraphStage& stage : graph.stages) {
    sums.push_back(Weight(stage) + (stage.before < 0 ? 0 : sums[static_cast<std::size_t>(stage.before)]));
    if (sums.back() > sums[last]) last = sums.size() - 1;
  }
  if (sums.empty() || sums[last] <= 0) return;
  std::set<int> critical;
  for (int i = static_cast<int>(last); i >= 0; i = graph.stages[static_cast<std::size_t>(i)].before) {
    GraphStage& stage = graph.stages[static_cast<std::size_t>(i)];
    stage.critical = IsToDo(*stage.view);
    if (stage.critical) critical.insert(i);
  }
  std::set<std::int64_t> entered;
  for (const int i : critical) entered.insert(graph.stages[static_cast<std::size_t>(i)].node->plan_node_id());
  for (GraphNode& node : graph.nodes) {
    node.critical = critical.contains(node.hangs_from) && entered.contains(node.node->plan_node_id());
  }
}

}  // namespace

StageGraph MakeStageGraph(const v1::GetPlanResponse& plan) {
  StageGraph graph;
  const auto cuts = CutsOf(plan);
  std::map<std::pair<std::int64_t, std::int64_t>, int> ends;  // stages by plan node and step
  const auto stage_ending_at = [&](std::int64_t node, std::int64_t step) {
    const auto stage = ends.find({node, step});
    return stage == ends.end() ? -1 : stage->second;
  };
  for (const v1::PlanNode& node : plan.nodes()) {
    int before = stage_ending_at(node.parent_id(), node.start_step());
    graph.nodes.push_back({.node = &node, .hangs_from = before});
    const auto own_cuts = cuts.find(node.plan_node_id());
    const auto add = [&](const v1::StageView& view, std::int64_t from, std::int64_t to) {
      GraphStage stage{.node = &node, .view = &view, .from = from, .to = to, .before = before};
      if (IsToDo(view) && node.costs().has_step_seconds()) {
        stage.seconds = node.costs().step_seconds() * static_cast<double>(to - from);
      }
      before = static_cast<int>(graph.stages.size());
      ends[{node.plan_node_id(), to}] = before;
      graph.stages.push_back(stage);
    };
    for (const v1::StageView& view : node.stages()) {
      std::int64_t from = view.from_step();
      if (own_cuts != cuts.end()) {
        for (auto cut = own_cuts->second.upper_bound(from); cut != own_cuts->second.end() && *cut < view.to_step();
             ++cut) {
          add(view, std::exchange(from, *cut), *cut);
        }
      }
      add(view, from, view.to_step());
    }
  }
  MarkCriticalPath(graph);
  return graph;
}

}  // namespace espalier
