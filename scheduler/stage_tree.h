// The stage tree: the training that waiting claims need and nobody has done or promised (TreeML chapter 3). Never
// stored. The engine keeps it by edits, in the index of needs (need_index.h); here it is built from scratch, from a
// search plan and its runs, as that index's oracle. Bounds of makespans take one that is made of whole lineages
// (lower_bound.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "scheduler/run_view.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// Where a stage without a parent begins.
struct FromInit {
  friend bool operator==(const FromInit&, const FromInit&) = default;
};
struct FromCheckpoint {
  Point point;
  friend bool operator==(const FromCheckpoint&, const FromCheckpoint&) = default;
};
// A run will store the checkpoint: the stage cannot start yet.
struct FromPromise {
  RunId run;
  Point point;
  friend bool operator==(const FromPromise&, const FromPromise&) = default;
};
using Source = std::variant<FromInit, FromCheckpoint, FromPromise>;

// Training from `from` to `to` under one plan node; from == to: nothing to train, the state there is evaluated.
struct Stage {
  PlanNodeId node;
  Step from;
  Step to;
  std::optional<std::size_t> parent;  // index of the stage that ends where this one begins
  Source source;                      // meant only without a parent
  std::string evaluation = {};        // of a stage that only evaluates: by which evaluation identity; else empty
  std::vector<std::size_t> children;  // by index
  std::vector<ClaimId> claims;        // that wait for the metrics at its end
  std::vector<TrialId> trials;        // whose claims need it, here or further down; sorted, unique
  friend bool operator==(const Stage&, const Stage&) = default;
};

// Invariant: a parent stands before its children; stages of one node do not overlap.
struct StageTree {
  PlanId plan;
  std::vector<Stage> stages;
  friend bool operator==(const StageTree&, const StageTree&) = default;
};

// With an estimate for each of its stages (parallel to tree.stages).
struct PlannedTree {
  StageTree tree;
  std::vector<Seconds> stage_times;
};

// Whether the stage may be handed out now: it has no parent, and its source is no promise.
bool IsReady(const StageTree& tree, std::size_t stage);

// TreeML's Algorithm 1, memoized and corrected: from the nearest checkpoint or open promise of a state at or before
// each waiting claim's point, tested at the point itself and at the point where a child leaves its parent; overlapping
// ranges of a node are split at each end. A claim whose metrics an open promise covers (of its point and evaluation)
// needs no stage. Where a point has both, its checkpoint is the source; of several runs that promise it, the one with
// the fewest steps to go there, then the smaller id. Evaluating a state is a stage without children, one for each
// evaluation identity; training on starts from the same source. `runs`: all runs of this plan that have open promises,
// as NeededPromises gives them. REQUIRES: claims that stored metrics or failures settle have been settled. O(waiting
// claims x depth).
StageTree BuildStageTree(const SearchPlan& plan, const std::vector<RunView>& runs);

// One line a stage, indented by depth; for golden tests, and for what tests say when they fail.
std::string Print(const StageTree& tree);

}  // namespace espalier
