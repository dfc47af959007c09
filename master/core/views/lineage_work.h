// What it takes to train a number of lineages, each shared step once.
#pragma once

#include <vector>

#include "master/core/state/master_state.h"
#include "scheduler/stage_tree.h"
#include "searchplan/plan/step_set.h"

namespace espalier::master {

// A lineage, wanted up to `step`.
struct LineageEnd {
  const SearchPlan* plan = nullptr;
  PlanNodeId leaf;
  Step step;
};

// The stages from Init to all ends, plans side by side as one forest; a stage's time is that of its steps that are not
// in `done`: the mean of what was trained under its node, else estimated by the running sums of its plan's kind. Only
// what MakespanLowerBound needs is filled in: nodes, steps, parents, children, times.
PlannedTree WorkOf(const MasterState& state, const std::vector<LineageEnd>& ends, const StepSet& done);

// The claim's step, or where its lineage stops training before that because of a failure.
Step TrainableStep(const SearchPlan& plan, const Claim& claim);

// Slots of connected servers of this device kind that take runs.
int SlotCount(const MasterState& state, const Study& study);

}  // namespace espalier::master
