// What a trial's steps returned as they were trained, as it is shown.
#pragma once

#include <iosfwd>

#include "client/json.h"
#include "client/views.h"

namespace espalier {

// {"loss": {"steps": [1, 2], "values": [2.3, 2.1]}}
Json ToJson(const TrainingCurves& metrics);

// A table with a column for each metric; of many steps some, evenly spread. Nothing, if there are none.
void PrintTrainingMetrics(std::ostream& out, const TrainingCurves& metrics);

}  // namespace espalier
