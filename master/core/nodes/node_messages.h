// What node managers say: registrations, where their runs stand, and reports. Reports are applied by content, whatever
// has become of their run (law 6); a report may come again.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Takes a registration first (a new incarnation loses the runs of the one before; of two streams of one server the
// newest counts, the other is ended), then where the runs stand, then the reports in order, each once. A message of a
// stream that has not registered ends that stream, as does a registration that cannot be stored. No errors: what does
// not fit is logged and passed over. O(runs that it names + reports x (promises of the run + depth)); for a
// registration also O(its offers and slots + runs of the server).
void OnNodeMessage(Draft& draft, const NodeMessage& message);

// The stream has ended; the server's lease goes on. Nothing for a stream that another has replaced. O(log servers).
void OnNodeGone(Draft& draft, const NodeGone& gone);

// Loses the servers whose lease has ended, and the runs of those that have not come back since the state was loaded. A
// lease counts from a server's last message, and never from before a pause of the loop. O(servers + runs under way).
void OnTick(Draft& draft, const Tick& tick);

}  // namespace espalier::master
