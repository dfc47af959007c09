#include "client/cli/plan_layout.h"

#include <algorithm>

namespace espalier {
namespace {

class Placer {
 public:
  Placer(const v1::GetPlanResponse& plan, PlanLayout& layout) : layout_(layout) {
    for (const v1::PlanNode& node : plan.nodes()) children_[node.parent_id()].push_back(&node);
    for (auto& [parent, nodes] : children_) {
      // Later branches stand nearer to their parent, so that connecting lines do not cross.
      std::stable_sort(nodes.begin(), nodes.end(),
                       [](const v1::PlanNode* a, const v1::PlanNode* b) { return a->start_step() > b->start_step(); });
    }
  }

  // With a stack instead of recursion: a chain of nodes may be long.
  void PlaceAll() {
    struct Pending {
      const v1::PlanNode* node;
      int parent;
      bool last;
      bool continues;  // takes its parent's row: nothing of the parent lies beyond its start
    };
    std::vector<Pending> stack;
    const auto push_children = [&](std::int64_t parent_id, int parent) {
      const std::vector<const v1::PlanNode*>& nodes = children_[parent_id];
      for (std::size_t i = nodes.size(); i-- > 0;) {
        const bool continues = i == 0 && parent >= 0 && nodes[i]->start_step() >= EndOf(parent);
        stack.push_back({nodes[i], parent, i + 1 == nodes.size(), continues});
      }
    };
    push_children(0, -1);
    while (!stack.empty()) {
      const Pending pending = stack.back();
      stack.pop_back();
      PlacedNode placed{.node = pending.node, .parent = pending.parent, .end = pending.node->start_step()};
      for (const v1::StageView& stage : pending.node->stages()) placed.end = std::max(placed.end, stage.to_step());
      placed.row = pending.continues ? At(pending.parent).row : layout_.row_count++;
      placed.depth = pending.parent < 0 ? 0 : At(pending.parent).depth + 1;
      placed.last_of_parent = pending.last;
      layout_.end = std::max(layout_.end, placed.end);
      layout_.nodes.push_back(placed);
      push_children(pending.node->plan_node_id(), static_cast<int>(layout_.nodes.size()) - 1);
    }
  }

 private:
  const PlacedNode& At(int index) const { return layout_.nodes[static_cast<std::size_t>(index)]; }
  std::int64_t EndOf(int index) const { return At(index).end; }

  PlanLayout& layout_;
  std::map<std::int64_t, std::vector<const v1::PlanNode*>> children_;
};

}  // namespace

PlanLayout LayOut(const v1::GetPlanResponse& plan) {
  PlanLayout layout;
  Placer(plan, layout).PlaceAll();
  return layout;
}

std::string FunctionsText(const v1::PlanNode& node) {
  std::string text;
  for (const auto& [name, function] :
       std::map<std::string, std::string>(node.functions().begin(), node.functions().end())) {
    text += (text.empty() ? "" : ", ") + name + " = " + function;
  }
  return text;
}

}  // namespace espalier
