// A study file as the study of a simulated service.
#pragma once

#include "base/result.h"
#include "client/study_file/study_file.h"
#include "sim/tuned_study.h"

namespace espalier {

// Of a trainer that takes what the file writes, with types as they are written. Error: kInvalidArgument, with the
// field, of values whose types contradict each other.
Result<sim::StudyToSimulate> StudyToSimulateFrom(const StudyFile& file);

}  // namespace espalier
