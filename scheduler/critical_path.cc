#include "scheduler/critical_path.h"

#include <algorithm>
#include <optional>

namespace espalier {

std::vector<StagePath> DecomposeByLongestPath(const PlannedTree& planned) {
  const std::vector<Stage>& stages = planned.tree.stages;
  // A parent stands before its children, so backwards each stage's children are known before it.
  std::vector<Seconds> remaining = planned.stage_times;  // of the longest way from the stage's start to a leaf
  std::vector<std::optional<std::size_t>> next(stages.size());
  for (std::size_t i = stages.size(); i-- > 0;) {
    for (const std::size_t child : stages[i].children) {
      if (!next[i] || remaining[child] > remaining[*next[i]]) next[i] = child;
    }
    if (next[i]) remaining[i] += remaining[*next[i]];
  }
  std::vector<StagePath> paths;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].parent && next[*stages[i].parent] == i) continue;  // goes on its parent's path
    StagePath path{.stages = {}, .time = remaining[i]};
    for (std::optional<std::size_t> stage = i; stage; stage = next[*stage]) path.stages.push_back(*stage);
    paths.push_back(std::move(path));
  }
  std::stable_sort(paths.begin(), paths.end(), [](const StagePath& a, const StagePath& b) { return a.time > b.time; });
  return paths;
}

}  // namespace espalier
