// What steps of simulated trainings take: how long they are, and what of a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/value.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

struct StepDemand {
  double utilization = 1;         // the part of the time in which it keeps a GPU busy when it is alone: > 0 to 1
  std::int64_t memory_bytes = 0;  // of a GPU, at most
  Seconds step{1};                // one step, alone on its device, on a server of speed 1
};
// By the values in force. Error: nothing says what such a step takes; then it is not trained.
using StepDemands = std::function<Result<StepDemand>(const worker::Values&)>;

// The rows of a table.
struct TableOfSteps {
  StepDemands demands;
  Seconds shortest{0};
};
// A table in CSV (ValueTable) with the columns `seconds` (1e-6 to 86400), hyper-parameters, and perhaps `utilization`
// (0.001 to 1) and `memory_bytes` (0 to 1e15). Error: as ValueTable::Parse; kNotFound of values without a row.
Result<TableOfSteps> ParseTableOfSteps(std::string_view csv, const ValueTypes& types);

}  // namespace espalier::sim
