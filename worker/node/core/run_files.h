// How the files of a run are named. A run is named by leadership and run: "1234-5".
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/point.h"

namespace espalier::node {

std::string RunName(RunKey run);
// Nothing if this is no run's name.
std::optional<RunKey> ParseRunName(std::string_view name);

// Within the folder of step logs, and of staged checkpoints.
std::string StepLogName(RunKey run);
std::string StagedName(RunKey run, Step step);

}  // namespace espalier::node
