#include "worker/protocol/json_fields.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace espalier::worker {
namespace {

constexpr std::int64_t kExactMax = std::int64_t{1} << 53;  // of whole numbers, in JSON
constexpr int kDepthMax = 16;                              // of messages within each other

const Json kNull;

Result<std::int64_t> ToInteger(const Json& json, std::string_view name) {
  if (json.is_number_integer()) {
    const bool is_too_large =
        json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
    if (!is_too_large) return json.get<std::int64_t>();
  }
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  if (json.is_number_float()) {
    const double number = json.get<double>();
    if (std::trunc(number) == number && std::abs(number) <= static_cast<double>(kExactMax)) {
      return static_cast<std::int64_t>(number);
    }
  }
  return WrongField(name, "expected a whole number of 64 bits");
}

Result<double> ToNumber(const Json& json, std::string_view name) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  return WrongField(name, "expected a number");
}

Result<std::string> ToText(const Json& json, std::string_view name) {
  if (!json.is_string()) return WrongField(name, "expected a text");
  const auto& text = json.get_ref<const std::string&>();
  if (!IsValidText(text)) return WrongField(name, "expected a text without zero bytes");
  return text;
}

}  // namespace

tl::unexpected<Error> WrongField(std::string_view name, std::string message) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message), std::string(name));
}

Result<Json> ParseObject(std::string_view text) {
  const auto is_kept = [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; };
  Json json = Json::parse(text, is_kept, /*allow_exceptions=*/false);
  if (!json.is_object()) return MakeError(ErrorCode::kInvalidArgument, "expected a JSON object");
  return json;
}

Json ToJson(std::int64_t number) {
  if (number >= -kExactMax && number <= kExactMax) return number;
  return std::to_string(number);
}

Json ToJson(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

Json ToJson(const Value& value) {
  struct Printer {
    Json operator()(bool boolean) const { return {{"boolean", boolean}}; }
    Json operator()(std::int64_t integer) const { return {{"integer", ToJson(integer)}}; }
    Json operator()(double floating) const { return {{"floating", floating}}; }
    Json operator()(const std::string& text) const { return {{"text", text}}; }
  };
  return std::visit(Printer{}, value);
}

Json ToJson(const Values& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = ToJson(value);
  return json;
}

Json ToJson(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) json[name] = ToJson(value);
  return json;
}

Json ToJson(StepMeaning step) {
  if (step.updates == 0) return {{"epoch", true}};
  return {{"updates", ToJson(step.updates)}};
}

Json ToJson(const CheckpointIdentity& identity) {
  return {{"planId", ToJson(identity.plan.value)},     {"planNodeId", ToJson(identity.point.node.value)},
          {"step", ToJson(identity.point.step.value)}, {"leadershipId", ToJson(identity.run.leadership.value)},
          {"runId", ToJson(identity.run.run.value)},   {"lineageDigest", ToHex(identity.lineage)}};
}

const Json& Member(const Json& object, const char* name) {
  const auto it = object.find(name);
  return it == object.end() ? kNull : *it;
}

Result<std::string> ReadText(const Json& object, const char* name) {
  const Json& json = Member(object, name);
  if (json.is_null()) return std::string();
  return ToText(json, name);
}

Result<bool> ReadBoolean(const Json& object, const char* name) {
  const Json& json = Member(object, name);
  if (json.is_null()) return false;
  if (!json.is_boolean()) return WrongField(name, "expected true or false");
  return json.get<bool>();
}

Result<std::int64_t> ReadInteger(const Json& object, const char* name) {
  const Json& json = Member(object, name);
  if (json.is_null()) return 0;
  return ToInteger(json, name);
}

Result<double> ReadNumber(const Json& object, const char* name) {
  const Json& json = Member(object, name);
  if (json.is_null()) return 0;
  return ToNumber(json, name);
}

Result<Json> ReadObject(const Json& object, const char* name) {
  const Json& json = Member(object, name);
  if (json.is_null()) return Json::object();
  if (!json.is_object()) return WrongField(name, "expected a message");
  return json;
}

Result<std::vector<Json>> ReadList(const Json& object, const char* name) {
  const Json& json = Member(object, name);
  if (json.is_null()) return std::vector<Json>();
  if (!json.is_array()) return WrongField(name, "expected a list");
  return json.get<std::vector<Json>>();
}

Result<std::vector<std::string>> ReadTexts(const Json& object, const char* name) {
  ESPALIER_ASSIGN(const std::vector<Json> list, ReadList(object, name));
  std::vector<std::string> texts;
  for (const Json& each : list) {
    if (!each.is_string()) return WrongField(name, "expected texts");
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

Result<Values> ReadValues(const Json& object, const char* name) {
  ESPALIER_ASSIGN(const Json json, ReadObject(object, name));
  Values values;
  for (const auto& [key, value] : json.items()) {
    ESPALIER_ASSIGN(Value read, ReadValue(value, key));
    values.emplace(key, std::move(read));
  }
  return values;
}

Result<Metrics> ReadMetrics(const Json& object, const char* name) {
  ESPALIER_ASSIGN(const Json json, ReadObject(object, name));
  Metrics metrics;
  for (const auto& [key, value] : json.items()) {
    if (!IsValidText(key)) return WrongField(name, "expected names without zero bytes");
    ESPALIER_ASSIGN(const double number, ToNumber(value, key));
    metrics.emplace(key, number);
  }
  return metrics;
}

Result<Value> ReadValue(const Json& json, std::string_view name) {
  if (!json.is_object()) return WrongField(name, "expected a value");
  if (const Json& boolean = Member(json, "boolean"); boolean.is_boolean()) return Value(boolean.get<bool>());
  if (const Json& integer = Member(json, "integer"); !integer.is_null()) {
    return ToInteger(integer, name).map([](std::int64_t number) { return Value(number); });
  }
  if (const Json& floating = Member(json, "floating"); !floating.is_null()) {
    return ToNumber(floating, name).map([](double number) { return Value(number); });
  }
  if (const Json& text = Member(json, "text"); !text.is_null()) {
    return ToText(text, name).map([](std::string read) { return Value(std::move(read)); });
  }
  return WrongField(name, "the value is missing");
}

Result<StepMeaning> ReadStepMeaning(const Json& object, const char* name) {
  ESPALIER_ASSIGN(const Json json, ReadObject(object, name));
  ESPALIER_ASSIGN(const bool epoch, ReadBoolean(json, "epoch"));
  ESPALIER_ASSIGN(const std::int64_t updates, ReadInteger(json, "updates"));
  if (epoch) return StepMeaning{};
  if (updates >= 1) return StepMeaning{updates};
  return WrongField(name, "a step is an epoch or at least one update");
}

Result<CheckpointIdentity> ReadIdentity(const Json& json) {
  CheckpointIdentity identity;
  const auto read = [&](const char* name, std::int64_t& id) -> Result<void> {
    ESPALIER_ASSIGN(id, ReadInteger(json, name));
    return {};
  };
  ESPALIER_RETURN_IF_ERROR(read("planId", identity.plan.value));
  ESPALIER_RETURN_IF_ERROR(read("planNodeId", identity.point.node.value));
  ESPALIER_RETURN_IF_ERROR(read("step", identity.point.step.value));
  ESPALIER_RETURN_IF_ERROR(read("leadershipId", identity.run.leadership.value));
  ESPALIER_RETURN_IF_ERROR(read("runId", identity.run.run.value));
  ESPALIER_ASSIGN(const std::string lineage, ReadText(json, "lineageDigest"));
  ESPALIER_ASSIGN(identity.lineage, ParseDigest128(lineage));
  return identity;
}

}  // namespace espalier::worker
