// A stage that can be ordered now: a state stands where it begins, and somebody waits for what follows.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "base/point.h"
#include "searchplan/plan/plan_node.h"

namespace espalier {

struct ReadyWork {
  PlanId plan;
  Point source;      // step 0 of a root: Init
  PlanNodeId first;  // under which the stage trains
  friend auto operator<=>(const ReadyWork&, const ReadyWork&) = default;
};

// What a run of it takes, as measured, or estimated from the like of it: on the best path that begins so, the most that
// any of its stages takes.
struct WorkEstimate {
  Seconds longest{0};                    // down to the furthest step that waits behind it
  std::optional<int> utilization;        // thousandths of its GPU's time; none: no such training was watched alone
  std::int64_t memory_bytes = 0;         // of its process; 0: not known
  std::int64_t device_memory_bytes = 0;  // of its GPU; 0: not known
  Demand least;                          // it was out of memory with less
  friend bool operator==(const WorkEstimate&, const WorkEstimate&) = default;
};

}  // namespace espalier
