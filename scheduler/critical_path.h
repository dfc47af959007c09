// The longest-path decomposition of a stage tree (TreeML 4.3).
#pragma once

#include <cstddef>
#include <vector>

#include "base/units.h"
#include "scheduler/stage_tree.h"

namespace espalier {

// A chain of stages, each the child of the one before.
struct StagePath {
  std::vector<std::size_t> stages;
  Seconds time{0};
};

// Repeatedly takes the longest remaining path by estimated time that starts at a root or hangs off a path already
// taken, until every stage is taken. Longest first; ties by the first stage's index. One linear pass and a sort.
std::vector<StagePath> DecomposeByLongestPath(const PlannedTree& planned);

}  // namespace espalier
