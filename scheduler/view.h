// All that a policy may know when it decides.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "scheduler/run_view.h"
#include "scheduler/stage_tree.h"

namespace espalier {

// A place where a run can train.
struct SlotId {
  std::string server;
  int index = 0;
  friend auto operator<=>(const SlotId&, const SlotId&) = default;
};

// A stage tree with an estimate for each of its stages (parallel to tree.stages).
struct PlannedTree {
  StageTree tree;
  std::vector<Seconds> stage_times;
};

struct View {
  std::vector<PlannedTree> trees;  // one a plan that has waiting claims; device kinds fit every idle slot's
  std::vector<SlotId> idle_slots;  // sorted
  std::vector<RunView> runs;       // all that hold a slot
};

}  // namespace espalier
