// Finds a trial's training state in the service's list, and has it trained once more where it is wanted and not stored.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "client/client.h"
#include "espalier/v1/checkpoint.pb.h"

namespace espalier {

// As options.step and options.train say. Errors: kNotFound, naming the steps whose states are stored, also where it was
// trained once more, and evicted at once; kFailedPrecondition where that training came to nothing; else the master's.
Result<v1::ListedCheckpoint> FindOrTrain(Client& client, TrialId trial, const FetchOptions& options);

}  // namespace espalier
