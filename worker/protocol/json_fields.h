// Fields of messages in protobuf's JSON mapping: each function is for one kind of field. For the .cc files of this
// folder only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"
#include "base/units.h"
#include "worker/protocol/worker_message.h"

namespace espalier::worker {

using Json = nlohmann::json;

tl::unexpected<Error> WrongField(std::string_view name, std::string message);

// Error: kInvalidArgument, when it is no JSON object.
Result<Json> ParseObject(std::string_view text);

// Numbers as JSON can say them exactly: beyond 2^53 as text; not finite as "NaN", "Infinity", "-Infinity".
Json ToJson(std::int64_t number);
Json ToJson(double number);
Json ToJson(const Value& value);
Json ToJson(const Values& values);
Json ToJson(const Metrics& metrics);
Json ToJson(StepMeaning step);
Json ToJson(const CheckpointIdentity& identity);

// The member of that name; null if it is left out. REQUIRES: an object.
const Json& Member(const Json& object, const char* name);

// The field of that name; its default where it is left out or null.
Result<std::string> ReadText(const Json& object, const char* name);
Result<bool> ReadBoolean(const Json& object, const char* name);
Result<std::int64_t> ReadInteger(const Json& object, const char* name);
Result<double> ReadNumber(const Json& object, const char* name);
Result<Values> ReadValues(const Json& object, const char* name);
Result<Metrics> ReadMetrics(const Json& object, const char* name);
// The object of that name; empty where it is left out.
Result<Json> ReadObject(const Json& object, const char* name);
// Its elements; none where it is left out.
Result<std::vector<Json>> ReadList(const Json& object, const char* name);
// The same of texts. Error also when one is none.
Result<std::vector<std::string>> ReadTexts(const Json& object, const char* name);

// The value of {"floating": 0.1} and the like. Error: none of the kinds is set.
Result<Value> ReadValue(const Json& json, std::string_view name);
Result<StepMeaning> ReadStepMeaning(const Json& object, const char* name);
Result<CheckpointIdentity> ReadIdentity(const Json& json);

}  // namespace espalier::worker
