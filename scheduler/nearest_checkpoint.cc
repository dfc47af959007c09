#include "scheduler/nearest_checkpoint.h"

#include <iterator>

namespace espalier {

std::optional<Step> NearestCheckpoint(const PlanNode& node, Step limit) {
  const std::map<Step, Checkpoint>& checkpoints = node.results->checkpoints;
  const auto beyond = checkpoints.upper_bound(limit);
  if (beyond == checkpoints.begin()) return std::nullopt;
  return std::prev(beyond)->first;
}

}  // namespace espalier
