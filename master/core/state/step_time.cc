#include "master/core/state/step_time.h"

#include <algorithm>
#include <cmath>

#include "master/core/state/prices.h"

namespace espalier::master {
namespace {

std::int64_t Microseconds(Seconds seconds) { return std::max<std::int64_t>(1, std::llround(seconds.count() * 1e6)); }

}  // namespace

std::int64_t StepMicroseconds(const MasterState& state, const SearchPlan& plan, const PlanNode& node) {
  return Microseconds(PricesOf(state, plan, node).Time(CostKind::kStep));
}

}  // namespace espalier::master
