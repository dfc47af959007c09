// What a trial's steps returned as they were trained, read from the master and put together.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "client/connection.h"
#include "client/views.h"

namespace espalier {

// Errors: as Connection::GetTrainingMetrics.
Result<TrainingCurves> ReadTrainingCurves(Connection& connection, TrialId trial);

}  // namespace espalier
