#include "master/core/state/step_time.h"

#include <algorithm>
#include <cmath>

namespace espalier::master {
namespace {

std::int64_t Microseconds(Seconds seconds) { return std::max<std::int64_t>(1, std::llround(seconds.count() * 1e6)); }

}  // namespace

std::int64_t StepMicroseconds(const MasterState& state, const SearchPlan& plan, const PlanNode& node) {
  const Measurement own = MeasurementOf(node, CostKind::kStep);
  if (own.count > 0) return Microseconds(std::chrono::duration<double, std::micro>(Mean(own)));
  const auto costs = state.costs.find(plan.cost_key);
  if (costs == state.costs.end()) return Microseconds(CostSums().Time(CostKind::kStep, {}));
  return Microseconds(costs->second.Time(CostKind::kStep, FeaturesOf(node)));
}

}  // namespace espalier::master
