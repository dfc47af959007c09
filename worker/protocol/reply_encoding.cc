#include <algorithm>

#include "worker/protocol/encoding.h"
#include "worker/protocol/json_fields.h"

namespace espalier::worker {
namespace {

// In the order of ReplyKind, ValueType and FailureKind.
constexpr const char* kReplyKinds[] = {"describe", "done", "train", "evaluate", "save", "failure", "heartbeat"};
constexpr const char* kTypes[] = {"VALUE_TYPE_BOOLEAN", "VALUE_TYPE_INTEGER", "VALUE_TYPE_FLOATING", "VALUE_TYPE_TEXT"};
constexpr const char* kFailures[] = {"FAILURE_KIND_TRAINER", "FAILURE_KIND_OUT_OF_MEMORY", "FAILURE_KIND_CHECKPOINT",
                                     "FAILURE_KIND_REQUEST", "FAILURE_KIND_FINISHED"};

Json Body(const HyperParameter& parameter) {
  return {{"name", parameter.name},
          {"type", kTypes[static_cast<std::size_t>(parameter.type)]},
          {"defaultValue", ToJson(parameter.default_value)},
          {"initial", parameter.initial}};
}

Json Body(const Offer& offer) {
  Json parameters = Json::array();
  for (const HyperParameter& parameter : offer.schema.hyper_parameters) parameters.push_back(Body(parameter));
  return {{"name", offer.trainer},
          {"codeDigest", offer.code_digest},
          {"data", offer.data},
          {"dataDigest", offer.data_digest},
          {"evaluationDigest", offer.evaluation_digest},
          {"hyperParameters", std::move(parameters)},
          {"metrics", offer.metrics},
          {"takesAny", offer.schema.takes_any}};
}

Json Body(const Description& description) {
  Json trainers = Json::array();
  for (const Offer& offer : description.offers) trainers.push_back(Body(offer));
  return {{"protocolVersion", description.protocol_version},
          {"deviceKind", description.device_kind},
          {"trainers", std::move(trainers)},
          {"capabilities", description.capabilities}};
}

Json Body(const Done&) { return Json::object(); }
Json Body(const Heartbeat&) { return Json::object(); }
Json Body(const Trained& trained) {
  return {{"metrics", ToJson(trained.metrics)},
          {"seconds", trained.time.count()},
          {"peakMemoryBytes", ToJson(trained.peak_bytes)},
          {"peakDeviceMemoryBytes", ToJson(trained.peak_device_bytes)},
          {"goesOn", trained.goes_on}};
}
Json Body(const Evaluated& evaluated) {
  return {{"metrics", ToJson(evaluated.metrics)}, {"seconds", evaluated.time.count()}};
}
Json Body(const Saved& saved) {
  return {{"stateSha256", saved.state_sha256},
          {"bytes", ToJson(saved.bytes)},
          {"blockingSeconds", saved.blocking_time.count()},
          {"seconds", saved.time.count()}};
}
Json Body(const Failure& failure) {
  return {{"kind", kFailures[static_cast<std::size_t>(failure.kind)]},
          {"message", failure.message},
          {"stateIntact", failure.state_intact},
          {"workerUnusable", failure.worker_unusable}};
}

template <std::size_t count>
Result<std::size_t> ReadEnum(const Json& object, const char* name, const char* const (&names)[count]) {
  ESPALIER_ASSIGN(const std::string text, ReadText(object, name));
  const auto it = std::find(std::begin(names), std::end(names), text);
  if (it == std::end(names)) return WrongField(name, "'" + text + "' is none of its values");
  return static_cast<std::size_t>(it - std::begin(names));
}

Result<HyperParameter> ReadHyperParameter(const Json& json) {
  if (!json.is_object()) return WrongField("hyperParameters", "expected messages");
  HyperParameter parameter;
  ESPALIER_ASSIGN(parameter.name, ReadText(json, "name"));
  if (parameter.name.empty()) return WrongField("hyperParameters", "a name is missing");
  const auto read = [&]() -> Result<void> {
    ESPALIER_ASSIGN(const std::size_t type, ReadEnum(json, "type", kTypes));
    parameter.type = static_cast<ValueType>(type);
    ESPALIER_ASSIGN(const Value value, ReadValue(Member(json, "defaultValue"), "defaultValue"));
    ESPALIER_ASSIGN(parameter.default_value, Convert(value, parameter.type));
    ESPALIER_ASSIGN(parameter.initial, ReadBoolean(json, "initial"));
    return {};
  };
  if (const Result<void> done = read(); !done.has_value()) return InField(parameter.name, done.error());
  return parameter;
}

Result<Schema> ReadSchema(const Json& json) {
  Schema schema;
  ESPALIER_ASSIGN(schema.takes_any, ReadBoolean(json, "takesAny"));
  ESPALIER_ASSIGN(const std::vector<Json> parameters, ReadList(json, "hyperParameters"));
  for (const Json& each : parameters) {
    ESPALIER_ASSIGN(HyperParameter parameter, ReadHyperParameter(each));
    schema.hyper_parameters.push_back(std::move(parameter));
  }
  std::ranges::sort(schema.hyper_parameters, {}, &HyperParameter::name);
  const auto twice = std::ranges::adjacent_find(schema.hyper_parameters, {}, &HyperParameter::name);
  if (twice != schema.hyper_parameters.end()) return WrongField(twice->name, "is declared twice");
  return schema;
}

Result<std::string> ReadRequired(const Json& json, const char* name) {
  ESPALIER_ASSIGN(std::string text, ReadText(json, name));
  if (text.empty()) return WrongField(name, "is required");
  return text;
}

Result<Offer> ReadOffer(const Json& json) {
  if (!json.is_object()) return WrongField("trainers", "expected messages");
  Offer offer;
  ESPALIER_ASSIGN(offer.trainer, ReadRequired(json, "name"));
  ESPALIER_ASSIGN(offer.code_digest, ReadRequired(json, "codeDigest"));
  ESPALIER_ASSIGN(offer.data, ReadText(json, "data"));
  ESPALIER_ASSIGN(offer.data_digest, ReadRequired(json, "dataDigest"));
  ESPALIER_ASSIGN(offer.evaluation_digest, ReadRequired(json, "evaluationDigest"));
  ESPALIER_ASSIGN(offer.schema, ReadSchema(json));
  ESPALIER_ASSIGN(offer.metrics, ReadTexts(json, "metrics"));
  std::ranges::sort(offer.metrics);
  return offer;
}

Result<ReplyKind> ReadDescription(const Json& json) {
  Description description;
  ESPALIER_ASSIGN(const std::int64_t version, ReadInteger(json, "protocolVersion"));
  description.protocol_version = static_cast<int>(version);
  ESPALIER_ASSIGN(description.device_kind, ReadText(json, "deviceKind"));
  ESPALIER_ASSIGN(description.capabilities, ReadTexts(json, "capabilities"));
  ESPALIER_ASSIGN(const std::vector<Json> trainers, ReadList(json, "trainers"));
  for (const Json& trainer : trainers) {
    ESPALIER_ASSIGN(Offer offer, ReadOffer(trainer));
    description.offers.push_back(std::move(offer));
  }
  return description;
}

template <class Measured>
Result<ReplyKind> ReadMeasured(const Json& json) {
  Measured measured;
  if constexpr (std::is_same_v<Measured, Trained>) {
    ESPALIER_ASSIGN(measured.peak_bytes, ReadInteger(json, "peakMemoryBytes"));
    ESPALIER_ASSIGN(measured.peak_device_bytes, ReadInteger(json, "peakDeviceMemoryBytes"));
    ESPALIER_ASSIGN(measured.goes_on, ReadBoolean(json, "goesOn"));
  }
  ESPALIER_ASSIGN(measured.metrics, ReadMetrics(json, "metrics"));
  ESPALIER_ASSIGN(const double seconds, ReadNumber(json, "seconds"));
  measured.time = Seconds(seconds);
  return measured;
}

Result<ReplyKind> ReadSaved(const Json& json) {
  Saved saved;
  ESPALIER_ASSIGN(saved.state_sha256, ReadText(json, "stateSha256"));
  ESPALIER_ASSIGN(saved.bytes, ReadInteger(json, "bytes"));
  ESPALIER_ASSIGN(const double blocking_seconds, ReadNumber(json, "blockingSeconds"));
  ESPALIER_ASSIGN(const double seconds, ReadNumber(json, "seconds"));
  saved.blocking_time = Seconds(blocking_seconds);
  saved.time = Seconds(seconds);
  return saved;
}

Result<ReplyKind> ReadFailure(const Json& json) {
  Failure failure;
  ESPALIER_ASSIGN(const std::size_t kind, ReadEnum(json, "kind", kFailures));
  failure.kind = static_cast<FailureKind>(kind);
  ESPALIER_ASSIGN(failure.message, ReadText(json, "message"));
  ESPALIER_ASSIGN(failure.state_intact, ReadBoolean(json, "stateIntact"));
  ESPALIER_ASSIGN(failure.worker_unusable, ReadBoolean(json, "workerUnusable"));
  return failure;
}

Result<ReplyKind> ReadReplyKind(const Json& json) {
  constexpr Result<ReplyKind> (*kReaders[])(const Json&) = {
      ReadDescription,
      [](const Json&) -> Result<ReplyKind> { return Done{}; },
      ReadMeasured<Trained>,
      ReadMeasured<Evaluated>,
      ReadSaved,
      ReadFailure,
      [](const Json&) -> Result<ReplyKind> { return Heartbeat{}; }};
  for (std::size_t i = 0; i < std::size(kReplyKinds); ++i) {
    const Json& kind = Member(json, kReplyKinds[i]);
    if (kind.is_null()) continue;
    if (!kind.is_object()) return WrongField(kReplyKinds[i], "expected a message");
    return kReaders[i](kind);
  }
  return MakeError(ErrorCode::kInvalidArgument, "the reply is of no known kind");
}

}  // namespace

std::string Encode(const WorkerReply& reply) {
  Json json{{"id", ToJson(reply.id)}};
  json[kReplyKinds[reply.kind.index()]] = std::visit([](const auto& kind) { return Body(kind); }, reply.kind);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<WorkerReply> DecodeReply(std::string_view text) {
  ESPALIER_ASSIGN(const Json json, ParseObject(text));
  WorkerReply reply;
  ESPALIER_ASSIGN(reply.id, ReadInteger(json, "id"));
  ESPALIER_ASSIGN(reply.kind, ReadReplyKind(json));
  return reply;
}

}  // namespace espalier::worker
