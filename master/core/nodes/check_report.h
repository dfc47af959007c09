// Whether a report fits its run: what a server says of runs that it was not given, or of points where its run does not
// pass, counts for nothing (law 6).
#pragma once

#include "master/core/state/master_state.h"
#include "protocol/report.h"

namespace espalier::master {

// The run, if this service has ordered it and the report fits it: `server` is the one that the run was given to, out of
// the same work directory, since a later incarnation reports what an earlier one has left; points and steps lie on the
// run's path, or are its start; lineages are those of their nodes, the evaluation is the run's, no file has the name of
// another state's, and times are possible. The end of a run always fits: its slot is free, whatever else is said.
// Error: kInvalidArgument, saying what does not fit. O(log stages + steps of a series).
Result<const Run*> CheckReport(const MasterState& state, const Server& server, const Report& report);

// Whether something can have taken so long: the time is finite, not negative, and at most some thirty years.
bool IsPossible(Seconds time);

}  // namespace espalier::master
