#include "master/core/views/step_times.h"

#include <algorithm>

#include "master/core/state/visibility.h"

namespace espalier::master {

bool IsOfKind(const MasterState& state, const SearchPlan& plan, const StepKind& kind) {
  return plan.identity.device_kind == kind.device_kind && plan.identity.training == kind.training &&
         MayKnow(state, plan, kind.team);
}

void MeasuredNodes::Add(const PlanNode& node) {
  if (node.results->trained.empty()) return;
  nodes_.push_back({.id = node.id,
                    .parent = {},
                    .start = node.start,
                    .configuration = node.configuration,
                    .lineage = node.lineage,
                    .children = {},
                    .results = NodeResults{.trained = node.results->trained}});
}

CostModel MeasuredNodes::Estimates() && {
  std::sort(nodes_.begin(), nodes_.end(), [](const PlanNode& a, const PlanNode& b) { return a.id < b.id; });
  SearchPlan measured;  // side by side
  for (PlanNode& node : nodes_) measured.nodes.Add(std::move(node));
  return CostModel::FromPlan(measured);
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
  return StepTimes([&state, kind = StepKind{study.training, study.device_kind, study.team}] {
    MeasuredNodes measured;
    for (const auto& [plan_id, plan] : state.plans) {
      if (!IsOfKind(state, plan, kind)) continue;
      for (const auto& [id, node] : plan.nodes) measured.Add(node);
    }
    return std::move(measured).Estimates();
  });
}

}  // namespace espalier::master
