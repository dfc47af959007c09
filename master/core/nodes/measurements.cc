#include "master/core/nodes/measurements.h"

#include <cmath>

#include "master/core/state/prices.h"

namespace espalier::master {

void Measure(Draft& draft, const SearchPlan& plan, PlanNodeId id, CostKind kind, std::int64_t units,
             std::int64_t total) {
  if (units <= 0 || total < 0 || units > kMeasuredCountMax || total > kMeasuredTotalMax) return;
  const PlanNode& node = plan.Node(id);
  const Measurement own = MeasurementOf(node, kind);
  const Measurement clipped =
      Clipped(PricesOf(draft.state(), plan, node).Estimate(kind), own, {.count = units, .total = total});
  const Measurement after = Sum(own, clipped);
  if (after != own) draft.Do(plan.id, {SetMeasurement{id, kind, after}});
}

void MeasureTime(Draft& draft, const SearchPlan& plan, PlanNodeId node, CostKind kind, std::int64_t units,
                 Seconds total) {
  constexpr double kMicrosecondsMax = 1e17;
  const double microseconds = total.count() * 1e6;
  if (!std::isfinite(microseconds) || microseconds <= 0 || microseconds > kMicrosecondsMax) return;
  Measure(draft, plan, node, kind, units, std::llround(microseconds));
}

}  // namespace espalier::master
