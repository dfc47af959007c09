// How much of a device training takes that was out of memory with less: twice as much each time, up to all that the
// largest device has. Memory counts where both say how much that is, else parts of the device do. Pure.
#pragma once

#include "protocol/device.h"
#include "searchplan/plan/plan_node.h"

namespace espalier {

// So many of the equal shares into which its slots cut the device; 0: it has not so much. 1 for a demand of nothing.
int SharesFor(const Device& device, const Demand& demand);

// What to try after so much of the device was not enough: twice that, or all that it has; more than that, if it was
// all.
Demand MoreThan(const Reservation& had, const Device& device);

// Whether what is reserved of the device is as much.
bool Suffices(const Reservation& reserved, const Device& device, const Demand& demand);

}  // namespace espalier
