#include "scheduler/node_prices.h"

#include "scheduler/cost_features.h"

namespace espalier {

NodePrices::NodePrices(const CostSums* sums, const PlanNode& node) : sums_(sums), node_(&node) {
  static const CostSums kNothingMeasured;
  if (sums_ == nullptr) sums_ = &kNothingMeasured;
}

bool NodePrices::IsMeasured(CostKind kind) const { return sums_->IsMeasured(kind); }

std::optional<double> NodePrices::Estimate(CostKind kind) {
  return sums_->Estimate(kind, FeaturesFor(kind), MeasurementOf(*node_, kind));
}

Seconds NodePrices::Time(CostKind kind) { return sums_->Time(kind, FeaturesFor(kind), MeasurementOf(*node_, kind)); }

const Features& NodePrices::FeaturesFor(CostKind kind) {
  static const Features kNone;
  if (MeasurementOf(*node_, kind).count > 0 || !IsMeasured(kind)) return kNone;
  if (!features_) features_ = FeaturesOf(*node_);
  return *features_;
}

}  // namespace espalier
