// Runs in the node protocol's words.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Emits SendOrders for each touched server that is connected: all its runs that have not ended, whole, since the
// message replaces any that was not sent yet. O(runs under way of these servers x (path + promises) + servers x
// references that are wanted).
void TellServers(Draft& draft);

}  // namespace espalier::master
