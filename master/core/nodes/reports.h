// Applies one report of a node manager. Results are taken by content, whatever has become of their run; what does not
// fit the run (check_report.h) is refused and logged, and changes nothing (law 6).
#pragma once

#include "master/core/draft.h"
#include "protocol/report.h"

namespace espalier::master {

// Repeatable: the same report of the server again changes nothing. O(promises of the run + depth of the point).
void ApplyReport(Draft& draft, const Server& server, const Report& report);

}  // namespace espalier::master
