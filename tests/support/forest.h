// Stage trees by shape alone, for tests of what looks at nothing else.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/stage_tree.h"

namespace espalier {

// Stage i hangs below stage parents[i], or is a root from Init where that is -1, and takes times[i] seconds.
inline PlannedTree Forest(const std::vector<int>& parents, const std::vector<double>& times) {
  PlannedTree planned;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    Stage stage;
    stage.node = PlanNodeId{static_cast<std::int64_t>(i) + 1};
    if (parents[i] >= 0) {
      stage.parent = parents[i];
      stage.from = planned.tree.stages[parents[i]].to;
      planned.tree.stages[parents[i]].children.push_back(i);
    }
    stage.to = stage.from + 1;
    planned.tree.stages.push_back(stage);
    planned.stage_times.emplace_back(times[i]);
  }
  return planned;
}

// The next in the order of all forests of its size: from all roots (-1) to the chain. False after the last.
inline bool NextForest(std::vector<int>& parents) {
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (++parents[i] < static_cast<int>(i)) return true;
    parents[i] = -1;
  }
  return false;
}

}  // namespace espalier
