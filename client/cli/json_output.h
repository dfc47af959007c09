// JSON documents of the command line: keys in the order in which they are written here. Scripts rely on them.
#pragma once

#include <string>
#include <string_view>

#include "client/json.h"
#include "espalier/v1/inspect.pb.h"
#include "searchplan/sequence/value.h"

namespace espalier {

using TrialCounts = google::protobuf::Map<std::string, std::int64_t>;  // by state

Json ToJson(const v1::StepCounts& steps);
Json ToJson(const v1::StudySummary& study);      // the document of `study show`
Json ToJson(const v1::StudyListing& study);      // an element of `study list`
Json ToJson(const v1::Trial& trial);             // an element of `trial list`
Json OriginInJson(const v1::Trial& trial);       // with what it begins; null: with Init
Json ToJson(const v1::GetTrialResponse& trial);  // of the document of `trial show`
Json ToJson(const v1::ForecastResponse& forecast);

// Since 1970.
double SecondsOf(const google::protobuf::Timestamp& time);

// "these two differ by 1.7e-18 from step 40 on"
std::string HintOf(const v1::NearMiss& pair);

// As study files say it; empty if this program does not know it.
std::string_view ScopeName(v1::Scope scope);

// The sum over all states.
std::int64_t TrialCount(const TrialCounts& by_state);

}  // namespace espalier
