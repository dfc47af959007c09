// Asks the master for a study of trials that go on from another.
#pragma once

#include "base/result.h"
#include "client/connection.h"
#include "espalier/v1/study.pb.h"

namespace espalier {

// Fills in the request id, the definition and, where it is empty, the name: "trial-3-branched", "trial-3-extended".
// Error: the master's.
Result<v1::ContinueTrialResponse> GoOnFrom(Connection& connection, v1::ContinueTrialRequest& request);

}  // namespace espalier
