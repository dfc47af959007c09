#include "sim/step_demands.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/value_table.h"

namespace espalier::sim {
namespace {

const NumberColumn kSeconds{"seconds", {{1e-6, 86400}}};
const NumberColumn kUtilization{"utilization", {{0.001, 1}}};
const NumberColumn kMemory{"memory_bytes", {{0, 1e15}}};

}  // namespace

Result<TableOfSteps> ParseTableOfSteps(std::string_view csv, const ValueTypes& types) {
  const bool has_utilization = ValueTable::HasColumn(csv, kUtilization.name);
  const bool has_memory = ValueTable::HasColumn(csv, kMemory.name);
  std::vector<NumberColumn> columns{kSeconds};
  if (has_utilization) columns.push_back(kUtilization);
  if (has_memory) columns.push_back(kMemory);
  ESPALIER_ASSIGN(ValueTable parsed, ValueTable::Parse(csv, columns, types, /*by_step=*/false));
  Seconds shortest = Seconds::max();
  parsed.Each([&](const std::vector<double>& row) { shortest = std::min(shortest, Seconds(row.front())); });
  if (shortest == Seconds::max()) return MakeError(ErrorCode::kInvalidArgument, "it has no row but its head");
  const auto table = std::make_shared<const ValueTable>(std::move(parsed));
  const auto demands = [=](const worker::Values& values) -> Result<StepDemand> {
    const std::vector<double>* row = table->Find(values);
    if (row == nullptr) {
      return MakeError(ErrorCode::kNotFound, "the table of steps has no row " + table->Named(values));
    }
    StepDemand demand{.step = Seconds(row->front())};
    if (has_utilization) demand.utilization = (*row)[1];
    if (has_memory) demand.memory_bytes = static_cast<std::int64_t>(row->back());
    return demand;
  };
  return TableOfSteps{demands, shortest};
}

}  // namespace espalier::sim
