// Sets of steps of plan nodes: a step is (plan node, step), meaning the call of Train that ends at `step` under that
// node. Kept as intervals; sizes and overlaps are counted without listing steps. Plan nodes of several plans may stand
// in one set: their ids are unique among all plans.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// Steps (from, to] of a node.
struct StepRange {
  PlanNodeId node;
  Step from;
  Step to;
  friend bool operator==(const StepRange&, const StepRange&) = default;
};

// The steps from Init to `step` on the lineage to `leaf`, by node, root first. Empty for Step{0}.
std::vector<StepRange> LineageRanges(const SearchPlan& plan, PlanNodeId leaf, Step step);

// Invariant: the intervals of a node neither overlap nor touch.
class StepSet {
 public:
  // A range without steps adds nothing.
  void Add(StepRange range);
  void AddLineage(const SearchPlan& plan, PlanNodeId leaf, Step step);
  // All that any run trained under the node.
  void AddTrained(const PlanNode& node);
  // All under the node that comes with the state that its lineage begins with; nothing if that begins at Init.
  // O(depth).
  void AddTakenOver(const SearchPlan& plan, const PlanNode& node);

  std::int64_t Count() const;
  // How many steps of the range are in the set.
  std::int64_t CountIn(StepRange range) const;
  bool Contains(PlanNodeId node, Step step) const;

  // In order of node, then of step.
  std::vector<StepRange> Ranges() const;
  std::vector<StepRange> RangesOf(PlanNodeId node) const;

 private:
  std::map<PlanNodeId, std::map<Step, Step>> intervals_;  // by node: from -> to
};

// The steps that are in both.
StepSet Intersection(const StepSet& a, const StepSet& b);

// The steps of `a` that are not in `b`.
StepSet Difference(const StepSet& a, const StepSet& b);

}  // namespace espalier
