// A run as the scheduler sees it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/point.h"
#include "protocol/order.h"
#include "scheduler/slot_id.h"

namespace espalier {

// A promise by what it is, whatever its id.
struct PromisedAt {
  Step step;
  Owed owed = Owed::kState;
  friend auto operator<=>(const PromisedAt&, const PromisedAt&) = default;
};

struct RunView {
  RunId id;
  PlanId plan;
  Time ordered_at{};
  std::optional<Point> start;        // the checkpoint it began from; none: from Init
  std::vector<PathStage> path;       // joined end to end; empty: it evaluates `start`
  SlotId slot;                       // on which it trains
  int device = 0;                    // of the slot's server
  int slots = 1;                     // the equal shares of the device that it has
  std::string evaluation;            // evaluation identity that its server measures
  Step at;                           // the last step known to be begun or reached
  bool training = true;              // false: training has stopped or is being preempted; it takes no new promises
  std::vector<PromisedAt> promises;  // open ones, sorted; the last is its end
};

// The point of the path at `step`. REQUIRES: the path, or its start, has it.
Point PointOnPath(const RunView& run, Step step);

// Whether `a` is expected at `step` before `b`: it has fewer steps to go there, or equally many and the smaller id.
bool GetsThereFirst(const RunView& a, const RunView& b, Step step);

}  // namespace espalier
