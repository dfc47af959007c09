// What node managers say: registrations, where their runs stand, and reports. Reports are applied by content, whatever
// has become of their run (law 6); a report may come again.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OnNodeMessage(Draft& draft, const NodeMessage& message);
void OnNodeGone(Draft& draft, const NodeGone& gone);

// Loses the servers whose lease has ended, and the runs of those that have not come back since the state was loaded. A
// lease counts from a server's last message, and never from before a pause of the loop.
void OnTick(Draft& draft, const Tick& tick);

}  // namespace espalier::master
