// Values and schemas between the wire and searchplan/sequence: the same for master, node manager and clients.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "espalier/v1/schema.pb.h"
#include "searchplan/sequence/value.h"

namespace espalier {

v1::Value ToProto(const Value& value);
v1::ValueType ToProto(ValueType type);

// A value that says nothing is false.
Value FromProto(const v1::Value& message);

// Error: kInvalidArgument for a type that this program does not know.
Result<ValueType> FromProto(v1::ValueType type);

v1::StepMeaning ToProto(StepMeaning step);
// Error: kInvalidArgument, with "step" as field, for one that says nothing or is of less than one update.
Result<StepMeaning> FromProto(const v1::StepMeaning& message);

// Sorted by name, defaults converted to their types. Error: kInvalidArgument, with the hyper-parameter's name as field.
Result<Schema> SchemaOf(const v1::TrainerDescription& trainer);
void AddSchema(const Schema& schema, v1::TrainerDescription& trainer);

}  // namespace espalier
