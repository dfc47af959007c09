#include "searchplan/plan/insert_trial.h"

#include <optional>

#include "base/check.h"

namespace espalier {

std::optional<PlanNodeId> FindPlanNode(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                                       const PackedConfiguration& configuration, const Origin* origin) {
  const PlanNode* node = plan.nodes.FindLineage(LineageDigest(plan, parent, start, configuration, origin));
  if (node == nullptr) return std::nullopt;
  ESPALIER_CHECK(node->parent == parent && node->start == start && node->configuration == configuration)
      << "two lineages have the digest " << ToHex(node->lineage);
  return node->id;
}

Insertion InsertTrial(const SearchPlan& plan, const std::vector<JointSegment>& segments, PlanNodeId next_node,
                      const std::optional<Origin>& origin) {
  ESPALIER_CHECK(!segments.empty()) << "a trial has at least one joint segment";
  Insertion insertion;
  std::optional<PlanNodeId> parent;
  bool in_plan = true;
  for (const JointSegment& segment : segments) {
    PackedConfiguration configuration(segment.configuration);
    const bool begins_elsewhere = origin && !parent;
    std::optional<PlanNodeId> node;
    if (in_plan) {
      node = FindPlanNode(plan, parent, segment.start, configuration, begins_elsewhere ? &*origin : nullptr);
    }
    if (!node) {
      in_plan = false;
      node = next_node;
      ++next_node.value;
      insertion.edit.push_back(AddPlanNode{.id = *node,
                                           .parent = parent,
                                           .start = segment.start,
                                           .configuration = std::move(configuration),
                                           .origin = begins_elsewhere ? origin : std::nullopt});
    }
    parent = node;
  }
  insertion.leaf = parent.value();
  return insertion;
}

}  // namespace espalier
