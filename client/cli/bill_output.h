// Who used what of the servers' devices: `server list` and `quota`.
#pragma once

#include <iosfwd>

#include "client/json.h"
#include "espalier/v1/inspect.pb.h"

namespace espalier {

// A row for each team that the caller may know of.
void PrintBill(std::ostream& out, const v1::ListServersResponse& servers);

// [{team, weight, slots, device_seconds, shared_seconds, saved_seconds}]
Json BillInJson(const v1::ListServersResponse& servers);

}  // namespace espalier
