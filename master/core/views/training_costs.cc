#include "master/core/views/training_costs.h"

#include "master/core/state/visibility.h"
#include "scheduler/cost_features.h"

namespace espalier::master {

bool IsOfKind(const MasterState& state, const SearchPlan& plan, const TrainingKind& kind) {
  return plan.identity.device_kind == kind.device_kind && plan.identity.training == kind.training &&
         MayKnow(state, plan, kind.team);
}

void MeasuredNodes::Add(const PlanNode& node) {
  if (node.results->measurements.empty()) return;
  PlanNode& copy = nodes_.emplace_back();
  copy.id = node.id;
  copy.start = node.start;
  copy.configuration = node.configuration;
  copy.results.Mutable().measurements = node.results->measurements;
}

CostSums MeasuredNodes::Sums() const {
  CostSums sums;
  for (const PlanNode& node : nodes_) {
    const Features features = FeaturesOf(node);
    for (const auto& [kind, measured] : node.results->measurements) sums.Replace(kind, features, {}, measured);
  }
  return sums;
}

}  // namespace espalier::master
