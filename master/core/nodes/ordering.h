// What servers should do: derives each run's targets again (law 8), lets the policy hand out paths, and says it to the
// node managers.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OrderRuns(Draft& draft);

// Emits SendDesired for each touched server that is connected.
void TellServers(Draft& draft);

}  // namespace espalier::master
