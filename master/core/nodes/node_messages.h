// What node managers say: registrations, where their runs stand, and reports. Reports are applied by content, whatever
// has become of their run (law 6); a report may come again.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OnNodeMessage(Draft& draft, const NodeMessage& message);
void OnNodeGone(Draft& draft, const NodeGone& gone);
void OnTick(Draft& draft);

}  // namespace espalier::master
