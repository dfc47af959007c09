// Runs in the node protocol's words.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Emits SendOrders for each touched server that is connected: all its runs that have not ended.
void TellServers(Draft& draft);

}  // namespace espalier::master
