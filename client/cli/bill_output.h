// Who used what of the servers' devices: `server list` and `quota`.
#pragma once

#include <iosfwd>

#include "client/json.h"
#include "espalier/v1/inspect.pb.h"

namespace espalier {

// A row for each team; others', whose names the caller may not know, in one.
void PrintBill(std::ostream& out, const v1::ListServersResponse& servers);

// [{team, weight, slots, device_seconds, shared_seconds, saved_seconds}]; team and weight of others are null.
Json BillInJson(const v1::ListServersResponse& servers);

}  // namespace espalier
