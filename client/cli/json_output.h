// JSON documents of the command line: keys in the order in which they are written here. Scripts rely on them.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "espalier/v1/inspect.pb.h"

namespace espalier {

using Json = nlohmann::ordered_json;

// Indented, with a line's end. Not-a-number becomes null.
void PrintJson(std::ostream& out, const Json& document);

Json ToJson(const v1::StepCounts& steps);
Json ToJson(const v1::StudySummary& study);      // the document of `study show`
Json ToJson(const v1::Trial& trial);             // an element of `trial list`
Json ToJson(const v1::GetTrialResponse& trial);  // the document of `trial show`
Json ToJson(const v1::ForecastResponse& forecast);

// "these two differ by 1.7e-18 from step 40 on"
std::string HintOf(const v1::NearMiss& pair);

// The sum over all states.
std::int64_t TrialCount(const v1::StudySummary& study);

}  // namespace espalier
