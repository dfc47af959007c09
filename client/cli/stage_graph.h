// A study's part of the search plan with its stages as one graph, a forest: each stage follows the one that ends where
// it begins. Stages that are not trained are cut as the stage tree cuts them: where a child branches off, and where a
// claim waits. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/v1/inspect.pb.h"

namespace espalier {

struct GraphStage {
  const v1::PlanNode* node = nullptr;
  const v1::StageView* view = nullptr;  // it is a part of
  std::int64_t from = 0;
  std::int64_t to = 0;
  int before = -1;                // index of the stage that ends where it begins; -1: a root's first
  std::optional<double> seconds;  // estimated; none: trained or planned, or nothing was ever measured
  bool critical = false;          // on the critical path
};

struct GraphNode {
  const v1::PlanNode* node = nullptr;
  int hangs_from = -1;    // index of the stage that ends at its start; -1: a root
  bool critical = false;  // the critical path enters it
};

// Invariant: what comes before stands before, for nodes and stages alike.
struct StageGraph {
  std::vector<GraphNode> nodes;
  std::vector<GraphStage> stages;
};

// The critical path is the chain from a root whose stages that run or wait take longest together, by estimate; where no
// step was measured, a second a step. Of equals the first. None if nothing runs or waits. O(n log n).
// REQUIRES: `plan` lists parents before children, and outlives the graph.
StageGraph MakeStageGraph(const v1::GetPlanResponse& plan);

}  // namespace espalier
