// JSON documents of the command line: keys in the order in which they are written here. Scripts rely on them.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string_view>

#include "espalier/v1/inspect.pb.h"

namespace espalier {

using Json = nlohmann::ordered_json;
using TrialCounts = google::protobuf::Map<std::string, std::int64_t>;  // by state

// Indented, with a line's end. Not-a-number becomes null.
void PrintJson(std::ostream& out, const Json& document);

Json ToJson(const v1::StepCounts& steps);
Json ToJson(const v1::StudySummary& study);      // the document of `study show`
Json ToJson(const v1::StudyListing& study);      // an element of `study list`
Json ToJson(const v1::Trial& trial);             // an element of `trial list`
Json ToJson(const v1::GetTrialResponse& trial);  // the document of `trial show`
Json ToJson(const v1::ForecastResponse& forecast);

// "these two differ by 1.7e-18 from step 40 on"
std::string HintOf(const v1::NearMiss& pair);

// As study files say it; empty if this program does not know it.
std::string_view ScopeName(v1::Scope scope);

// The sum over all states.
std::int64_t TrialCount(const TrialCounts& by_state);

}  // namespace espalier
