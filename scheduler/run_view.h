// A run as the scheduler sees it.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// Steps (from, to] under one plan node.
struct PathStage {
  PlanNodeId node;
  Step from;
  Step to;
  friend bool operator==(const PathStage&, const PathStage&) = default;
};

// A promise of a run: at `step` of its path its metrics, its state, or both will be stored.
struct Target {
  Step step;
  bool evaluate = false;
  bool save = true;
  friend bool operator==(const Target&, const Target&) = default;
};

struct RunView {
  RunId id;
  std::optional<Point> start;   // the checkpoint it began from; none: from Init
  std::vector<PathStage> path;  // joined end to end; empty: it evaluates `start`
  Step at;                      // the last step known to be begun or reached
  bool training = true;         // false: training has stopped, saves are under way; it takes no new targets
  std::vector<Target> targets;  // promised, and neither stored nor lost; in order of step; the last is its end
};

// The point of the path at `step`. REQUIRES: the path, or its start, has it.
Point PointOnPath(const RunView& run, Step step);

// The last step of the path; the start's step if the path is empty.
Step PathEnd(const RunView& run);

// Whether `a` is expected at `step` before `b`: it has fewer steps to go there, or equally many and the smaller id.
bool GetsThereFirst(const RunView& a, const RunView& b, Step step);

}  // namespace espalier
