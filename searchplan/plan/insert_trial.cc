#include "searchplan/plan/insert_trial.h"

#include <optional>

#include "base/check.h"

namespace espalier {
namespace {

// The root or child that the segment enters, if the plan has it.
std::optional<PlanNodeId> FindChild(const SearchPlan& plan, std::optional<PlanNodeId> parent,
                                    const JointSegment& segment) {
  for (const PlanNodeId id : parent ? plan.Node(*parent).children : plan.roots) {
    const PlanNode& node = plan.Node(id);
    if (node.start == segment.start && node.configuration == segment.configuration) return id;
  }
  return std::nullopt;
}

}  // namespace

Insertion InsertTrial(const SearchPlan& plan, const std::vector<JointSegment>& segments, PlanNodeId next_node) {
  ESPALIER_CHECK(!segments.empty()) << "a trial has at least one joint segment";
  Insertion insertion;
  std::optional<PlanNodeId> parent;
  bool in_plan = true;
  for (const JointSegment& segment : segments) {
    std::optional<PlanNodeId> node = in_plan ? FindChild(plan, parent, segment) : std::nullopt;
    if (!node) {
      in_plan = false;
      node = next_node;
      ++next_node.value;
      insertion.edit.push_back(AddPlanNode{*node, parent, segment.start, segment.configuration});
    }
    parent = node;
  }
  insertion.leaf = parent.value();
  return insertion;
}

}  // namespace espalier
