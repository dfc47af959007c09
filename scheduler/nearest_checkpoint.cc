#include "scheduler/nearest_checkpoint.h"

#include <iterator>

namespace espalier {

std::optional<Step> NearestCheckpoint(const PlanNode& node, Step limit) {
  const auto beyond = std::make_reverse_iterator(node.points->upper_bound(limit));
  for (auto it = beyond; it != node.points->rend(); ++it) {
    if (it->second.checkpoint) return it->first;
  }
  return std::nullopt;
}

bool HasCheckpoint(const SearchPlan& plan, Point point) {
  const PointRecord* record = plan.FindPoint(point);
  return record != nullptr && record->checkpoint.has_value();
}

}  // namespace espalier
