// What a trial's steps returned as they were trained, read from the master and put together.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

#include "client/connection.h"
#include "client/json.h"

namespace espalier {

using TrainingMetricsByName = std::map<std::string, std::map<std::int64_t, double>>;  // by step

// Errors: as Connection::GetTrainingMetrics.
Result<TrainingMetricsByName> ReadTrainingMetrics(Connection& connection, std::int64_t trial);

// {"loss": {"steps": [1, 2], "values": [2.3, 2.1]}}
Json ToJson(const TrainingMetricsByName& metrics);

// A table with a column for each metric; of many steps some, evenly spread. Nothing, if there are none.
void PrintTrainingMetrics(std::ostream& out, const TrainingMetricsByName& metrics);

}  // namespace espalier
