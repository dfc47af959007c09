#include "searchplan/plan/insert_trial.h"

#include <optional>

#include "base/check.h"

namespace espalier {
namespace {

// The root or child that the segment enters, if the plan has it.
std::optional<PlanNodeId> FindChild(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                                    const PackedConfiguration& configuration) {
  const PlanNode* node = plan.nodes.FindLineage(LineageDigest(plan, parent, start, configuration));
  if (node == nullptr) return std::nullopt;
  ESPALIER_CHECK(node->parent == parent && node->start == start && node->configuration == configuration)
      << "two lineages have the digest " << ToHex(node->lineage);
  return node->id;
}

}  // namespace

Insertion InsertTrial(const SearchPlan& plan, const std::vector<JointSegment>& segments, PlanNodeId next_node) {
  ESPALIER_CHECK(!segments.empty()) << "a trial has at least one joint segment";
  Insertion insertion;
  std::optional<PlanNodeId> parent;
  bool in_plan = true;
  for (const JointSegment& segment : segments) {
    PackedConfiguration configuration(segment.configuration);
    std::optional<PlanNodeId> node = in_plan ? FindChild(plan, parent, segment.start, configuration) : std::nullopt;
    if (!node) {
      in_plan = false;
      node = next_node;
      ++next_node.value;
      insertion.edit.push_back(AddPlanNode{*node, parent, segment.start, std::move(configuration)});
    }
    parent = node;
  }
  insertion.leaf = parent.value();
  return insertion;
}

}  // namespace espalier
