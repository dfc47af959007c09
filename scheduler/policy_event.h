// What a policy is told of, in the order in which it happened.
#pragma once

#include <variant>

#include "base/point.h"

namespace espalier {

// Metrics were stored at a point, of whatever evaluation. What claims they settle is settled.
struct MetricsCame {
  PlanId plan;
  Point point;
};

// A trial asks for more steps than before, its first ones or further ones; metrics may stand on the way to them.
struct TrialClaimed {
  TrialId trial;
};

using PolicyEvent = std::variant<MetricsCame, TrialClaimed>;

}  // namespace espalier
