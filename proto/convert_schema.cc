#include "proto/convert_schema.h"

#include <algorithm>

namespace espalier {

v1::Value ToProto(const Value& value) {
  v1::Value message;
  if (const auto* boolean = std::get_if<bool>(&value)) message.set_boolean(*boolean);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) message.set_integer(*integer);
  if (const auto* floating = std::get_if<double>(&value)) message.set_floating(*floating);
  if (const auto* text = std::get_if<std::string>(&value)) message.set_text(*text);
  return message;
}

v1::ValueType ToProto(ValueType type) {
  switch (type) {
    case ValueType::kBoolean:
      return v1::VALUE_TYPE_BOOLEAN;
    case ValueType::kInteger:
      return v1::VALUE_TYPE_INTEGER;
    case ValueType::kFloating:
      return v1::VALUE_TYPE_FLOATING;
    case ValueType::kText:
      return v1::VALUE_TYPE_TEXT;
  }
  return v1::VALUE_TYPE_UNSPECIFIED;
}

Value FromProto(const v1::Value& message) {
  switch (message.kind_case()) {
    case v1::Value::kBoolean:
      return message.boolean();
    case v1::Value::kInteger:
      return std::int64_t{message.integer()};
    case v1::Value::kFloating:
      return message.floating();
    case v1::Value::kText:
      return message.text();
    case v1::Value::KIND_NOT_SET:
      break;
  }
  return false;
}

Result<ValueType> FromProto(v1::ValueType type) {
  switch (type) {
    case v1::VALUE_TYPE_BOOLEAN:
      return ValueType::kBoolean;
    case v1::VALUE_TYPE_INTEGER:
      return ValueType::kInteger;
    case v1::VALUE_TYPE_FLOATING:
      return ValueType::kFloating;
    case v1::VALUE_TYPE_TEXT:
      return ValueType::kText;
    default:
      return MakeError(ErrorCode::kInvalidArgument, "unknown type of a hyper-parameter", "type");
  }
}

v1::StepMeaning ToProto(StepMeaning step) {
  v1::StepMeaning message;
  step.updates == 0 ? message.set_epoch(true) : message.set_updates(step.updates);
  return message;
}

Result<StepMeaning> FromProto(const v1::StepMeaning& message) {
  if (message.epoch()) return StepMeaning{};
  if (message.updates() >= 1) return StepMeaning{message.updates()};
  return MakeError(ErrorCode::kInvalidArgument, "a step is an epoch or at least one update", "step");
}

Result<Schema> SchemaOf(const v1::TrainerDescription& trainer) {
  Schema schema{.takes_any = trainer.takes_any()};
  for (const v1::HyperParameter& parameter : trainer.hyper_parameters()) {
    const Result<ValueType> type = FromProto(parameter.type());
    if (!type.has_value()) return InField(parameter.name(), type.error());
    Result<Value> default_value = Convert(FromProto(parameter.default_value()), *type);
    if (!default_value.has_value()) return InField(parameter.name(), default_value.error());
    schema.hyper_parameters.push_back({parameter.name(), *type, std::move(*default_value), parameter.initial()});
  }
  std::sort(schema.hyper_parameters.begin(), schema.hyper_parameters.end(),
            [](const HyperParameter& a, const HyperParameter& b) { return a.name < b.name; });
  return schema;
}

void AddSchema(const Schema& schema, v1::TrainerDescription& trainer) {
  trainer.set_takes_any(schema.takes_any);
  for (const HyperParameter& parameter : schema.hyper_parameters) {
    v1::HyperParameter& part = *trainer.add_hyper_parameters();
    part.set_name(parameter.name);
    part.set_type(ToProto(parameter.type));
    *part.mutable_default_value() = ToProto(parameter.default_value);
    part.set_initial(parameter.initial);
  }
}

}  // namespace espalier
