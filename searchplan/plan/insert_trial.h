// Enters a trial's whole lineage into a search plan (TreeML 4.2.1, "trial additions").
#pragma once

#include <optional>
#include <vector>

#include "searchplan/plan/plan_edit.h"

namespace espalier {

struct Insertion {
  PlanEdit edit;    // AddPlanNode for what is new, parents first
  PlanNodeId leaf;  // the node of the lineage's last joint segment
};

// The root, or the child of `parent`, that such a segment enters, if the plan has it. O(log nodes). REQUIRES: a parent,
// or an origin, or neither.
std::optional<PlanNodeId> FindPlanNode(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                                       const PackedConfiguration& configuration, const Origin* origin = nullptr);

// Walks the plan along `segments` (the trial's joint segments up to its horizon) and adds nodes where it leaves the
// plan. New nodes get ids from `next_node` on. Inserting the same segments again gives an empty edit and the same leaf.
// `origin`: what the trial's training begins with; none: Init. REQUIRES: segments as ResolveTrial gives them.
Insertion InsertTrial(const SearchPlan& plan, const std::vector<JointSegment>& segments, PlanNodeId next_node,
                      const std::optional<Origin>& origin = {});

}  // namespace espalier
