#include "master/core/views/step_times.h"

#include <algorithm>

#include "master/core/state/visibility.h"

namespace espalier::master {
namespace {

bool IsOfKind(const MasterState& state, const SearchPlan& plan, const StepKind& kind) {
  return plan.identity.device_kind == kind.device_kind && plan.identity.training == kind.training &&
         MayKnow(state, plan, kind.team);
}

}  // namespace

CostModel EstimatesOf(const MasterState& state, const StepKind& kind) {
  SearchPlan measured;  // what was measured in any plan of this kind, side by side
  for (const auto& [plan_id, plan] : state.plans) {
    if (!IsOfKind(state, plan, kind)) continue;
    for (const auto& [id, node] : plan.nodes) {
      if (node.results->trained.empty()) continue;
      measured.nodes.Add({.id = id,
                          .start = node.start,
                          .configuration = node.configuration,
                          .lineage = node.lineage,
                          .children = {},
                          .results = node.results});
    }
  }
  return CostModel::FromPlan(measured);
}

bool IsAnyMeasured(const MasterState& state, const StepKind& kind) {
  return std::any_of(state.plans.begin(), state.plans.end(), [&](const auto& entry) {
    if (!IsOfKind(state, entry.second, kind)) return false;
    const auto& nodes = entry.second.nodes;
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const auto& node) { return !node.second.results->trained.empty(); });
  });
}

Seconds StepTimes::Of(const PlanNode& node) {
  if (const auto known = known_.find(node.id); known != known_.end()) return known->second;
  std::int64_t steps = 0;
  Seconds seconds{0};
  for (const TrainedRange& range : node.results->trained) {
    steps += range.to - range.from;
    seconds += range.seconds;
  }
  if (steps == 0 && !estimates_) estimates_ = make_estimates_();
  const Seconds time = steps > 0 ? seconds / static_cast<double>(steps) : estimates_->StepTime(node);
  known_.emplace(node.id, time);
  return time;
}

StepTimes StepTimesOf(const MasterState& state, const Study& study) {
  return StepTimes(
      [&state, kind = StepKind{study.training, study.device_kind, study.team}] { return EstimatesOf(state, kind); });
}

}  // namespace espalier::master
