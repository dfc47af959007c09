// A stage that can be ordered now: a state stands where it begins, and somebody waits for what follows.
#pragma once

#include <compare>

#include "base/point.h"

namespace espalier {

struct ReadyWork {
  PlanId plan;
  Point source;      // step 0 of a root: Init
  PlanNodeId first;  // under which the stage trains
  friend auto operator<=>(const ReadyWork&, const ReadyWork&) = default;
};

}  // namespace espalier
