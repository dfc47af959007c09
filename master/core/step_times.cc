#include "master/core/step_times.h"

#include <algorithm>

#include "master/core/visibility.h"

namespace espalier {

Seconds StepTimes::Of(const PlanNode& node) {
  if (const auto known = known_.find(node.id); known != known_.end()) return known->second;
  std::int64_t steps = 0;
  Seconds seconds{0};
  for (const TrainedRange& range : node.trained) {
    steps += range.to - range.from;
    seconds += range.seconds;
  }
  const Seconds time = steps > 0 ? seconds / static_cast<double>(steps) : Estimates().StepTime(node);
  known_.emplace(node.id, time);
  return time;
}

bool StepTimes::IsAnyMeasured() const {
  return std::any_of(state_.plans.begin(), state_.plans.end(), [&](const auto& entry) {
    if (!IsOfThisKind(entry.second)) return false;
    const auto& nodes = entry.second.nodes;
    return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return !node.second.trained.empty(); });
  });
}

bool StepTimes::IsOfThisKind(const SearchPlan& plan) const {
  return plan.identity.device_kind == device_kind_ && plan.identity.training == training_ &&
         MayKnow(state_, plan, team_);
}

const CostModel& StepTimes::Estimates() {
  if (estimates_) return *estimates_;
  SearchPlan measured;  // what was measured in any plan of this kind, side by side
  for (const auto& [plan_id, plan] : state_.plans) {
    if (!IsOfThisKind(plan)) continue;
    for (const auto& [id, node] : plan.nodes) {
      if (node.trained.empty()) continue;
      measured.nodes.Add({.id = id,
                          .start = node.start,
                          .configuration = node.configuration,
                          .lineage = node.lineage,
                          .trained = node.trained});
    }
  }
  return estimates_.emplace(CostModel::FromPlan(measured));
}

}  // namespace espalier
