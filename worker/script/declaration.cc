#include "worker/script/declaration.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "worker/protocol/json_fields.h"

namespace espalier::script {
namespace {

using worker::Json;
using worker::WrongField;

constexpr std::array<const char*, 4> kTypes{"bool", "int", "float", "text"};  // in the order of ValueType

Result<void> CheckKeys(const Json& object, const std::vector<std::string>& known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    return WrongField(key, "is not known; expected some of: " + all);
  }
  return {};
}

Result<Value> ReadDefault(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_number()) return Value(json.get<double>());
  if (json.is_string()) return Value(json.get<std::string>());
  return WrongField("default", "expected a number, a text, true or false");
}

Result<HyperParameter> ReadHyperParameter(const std::string& name, const Json& json) {
  HyperParameter parameter{.name = name};
  const Json object = json.is_object() ? json : Json{{"default", json}};
  ESPALIER_RETURN_IF_ERROR(CheckKeys(object, {"default", "type", "initial"}));
  ESPALIER_ASSIGN(parameter.default_value, ReadDefault(worker::Member(object, "default")));
  parameter.type = TypeOf(parameter.default_value);
  ESPALIER_ASSIGN(const std::string type, worker::ReadText(object, "type"));
  if (!type.empty()) {
    const auto found = std::ranges::find(kTypes, type);
    if (found == kTypes.end()) return WrongField("type", "expected bool, int, float or text, got '" + type + "'");
    parameter.type = static_cast<ValueType>(found - kTypes.begin());
  }
  ESPALIER_ASSIGN(parameter.default_value, Convert(parameter.default_value, parameter.type));
  ESPALIER_ASSIGN(parameter.initial, worker::ReadBoolean(object, "initial"));
  return parameter;
}

Result<Schema> ReadSchema(const Json& all) {
  Schema schema;
  for (const auto& [name, json] : all.items()) {  // sorted by name
    Result<HyperParameter> parameter = ReadHyperParameter(name, json);
    if (!parameter.has_value()) return InField("hyper_parameters." + name, parameter.error());
    schema.hyper_parameters.push_back(*std::move(parameter));
  }
  return schema;
}

}  // namespace

Result<Declaration> ReadDeclaration(std::string_view text) {
  const Result<Json> json = worker::ParseObject(text);
  if (!json.has_value()) return MakeError(ErrorCode::kInvalidArgument, "it is no JSON object");
  ESPALIER_RETURN_IF_ERROR(
      CheckKeys(*json, {"hyper_parameters", "metrics", "data", "version", "device", "writes_safetensors"}));
  Declaration declaration;
  ESPALIER_ASSIGN(const Json parameters, worker::ReadObject(*json, "hyper_parameters"));
  ESPALIER_ASSIGN(declaration.schema, ReadSchema(parameters));
  ESPALIER_ASSIGN(declaration.metrics, worker::ReadTexts(*json, "metrics"));
  std::ranges::sort(declaration.metrics);
  if (worker::Member(*json, "data").is_string()) {
    ESPALIER_ASSIGN(declaration.data_version, worker::ReadText(*json, "data"));
  } else {
    ESPALIER_ASSIGN(declaration.data_paths, worker::ReadTexts(*json, "data"));
  }
  ESPALIER_ASSIGN(declaration.version, worker::ReadText(*json, "version"));
  ESPALIER_ASSIGN(declaration.device, worker::ReadText(*json, "device"));
  ESPALIER_ASSIGN(declaration.writes_safetensors, worker::ReadBoolean(*json, "writes_safetensors"));
  return declaration;
}

}  // namespace espalier::script
