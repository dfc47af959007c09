// Runs on several slots of one device together. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler/view.h"

namespace espalier {

// Of all devices of the plan's servers. O(devices).
std::int64_t SlotsFor(PlanId plan, const View& view);

// How many slots of one device are free together, or the run's own; at least those that it has. O(devices).
std::int64_t MostSlotsFor(const RunView& run, const View& view);

// The work on so many slots, or as many as any device has free. None: it cannot be started now. O(depth + devices).
// REQUIRES: it is ready, slots >= 1.
std::optional<StartPath> StartOn(const ReadyWork& work, std::int64_t slots, const View& view);

}  // namespace espalier
