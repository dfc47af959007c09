// Stages as people name them: NODE@STEP, a plan node and a step past its start, as `plan show` shows them.
#pragma once

#include <string>

#include "base/result.h"
#include "espalier/v1/inspect.pb.h"

namespace espalier {

// Error: kInvalidArgument ("STAGE"), saying what is expected.
Result<v1::StagePoint> ParseStageName(const std::string& name);

// "7@20".
std::string StageName(const v1::StagePoint& point);

}  // namespace espalier
