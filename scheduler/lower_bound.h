// The least makespan that any schedule can reach on a number of slots.
#pragma once

#include "scheduler/stage_tree.h"

namespace espalier {

// max over t of (t + work deeper than t / slots), where a stage's depth is the time of the path before it; 0 for no
// stages.
Seconds MakespanLowerBound(const PlannedTree& planned, int slots);

}  // namespace espalier
