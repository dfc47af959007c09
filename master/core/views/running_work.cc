#include "master/core/views/running_work.h"

#include <algorithm>

namespace espalier::master {

std::vector<StepRange> PathRanges(const Run& run, Step from, Step to) {
  std::vector<StepRange> ranges;
  for (const PathStage& stage : run.path) {
    const StepRange range{stage.node, std::max(stage.from, from), std::min(stage.to, to)};
    if (range.from < range.to) ranges.push_back(range);
  }
  return ranges;
}

Step EndOf(const Run& run) {
  Step end = run.at();
  for (const auto& [id, promise] : run.promises) {
    if (promise.state == PromiseState::kOpen) end = std::max(end, promise.step);
  }
  return end;
}

}  // namespace espalier::master
