#include "scheduler/run_view.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace espalier {

Point PointOnPath(const RunView& run, Step step) {
  for (const PathStage& stage : run.path) {
    if (stage.from < step && step <= stage.to) return {stage.node, step};
  }
  ESPALIER_CHECK(run.start && run.start->step == step) << "step " << step.value << " is not on run " << run.id.value;
  return *run.start;
}

bool GetsThereFirst(const RunView& a, const RunView& b, Step step) {
  const auto steps_to_go = [step](const RunView& run) { return std::max<std::int64_t>(0, step - run.at); };
  return std::pair(steps_to_go(a), a.id) < std::pair(steps_to_go(b), b.id);
}

}  // namespace espalier
