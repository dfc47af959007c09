// The workers' own step logs: a line "RUN STEP SECONDS" for each step that was trained, the only source of what is
// counted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/report.h"

namespace espalier::node {

struct StepLogSummary {
  std::vector<StepsTrained> trained;  // cut at the plan nodes' borders
  std::int64_t bytes_read = 0;        // whole lines only: the rest is still being written
};

// Sums up the lines of `run` in `text`. Lines of other runs, of steps that are not on the path, and damaged ones are
// left out.
StepLogSummary SummarizeStepLog(std::string_view text, RunId run, const std::vector<PathStage>& path);

}  // namespace espalier::node
