// Applies one report of a node manager. Results are taken by content, whatever has become of their run, and refused if
// they do not fit their point (law 6); what is said of a run counts only for a run that this service ordered.
#pragma once

#include "master/core/draft.h"
#include "protocol/report.h"

namespace espalier::master {

// Repeatable: the same report again changes nothing. O(promises of the run + depth of the point).
void ApplyReport(Draft& draft, const Report& report);

}  // namespace espalier::master
