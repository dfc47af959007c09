#include "worker/protocol/encoding.h"
#include "worker/protocol/json_fields.h"

namespace espalier::worker {
namespace {

Json Body(const Describe& describe) { return {{"capabilities", describe.capabilities}}; }
Json Body(const Evaluate&) { return Json::object(); }
Json Body(const Setup& setup) { return {{"values", ToJson(setup.values)}}; }
Json Body(const Train& train) {
  Json json{{"step", ToJson(train.step.value)}};
  if (train.until == Step{}) return json;
  json["until"] = ToJson(train.until.value);
  Json ahead = Json::array();
  for (const ValuesAtStep& each : train.ahead) {
    ahead.push_back({{"step", ToJson(each.step.value)}, {"values", ToJson(each.values)}});
  }
  json["ahead"] = std::move(ahead);
  return json;
}
Json Body(const Load& load) {
  Json json{{"path", load.path}};
  if (load.of_other_code) json["ofOtherCode"] = true;
  return json;
}
Json Body(const Proceed& proceed) { return {{"runId", ToJson(proceed.run.run.value)}, {"stepLog", proceed.step_log}}; }
Json Body(const Save& save) { return {{"path", save.path}, {"identity", ToJson(save.identity)}}; }
Json Body(const Init& init) {
  return {{"trainer", init.trainer},
          {"data", init.data},
          {"step", ToJson(init.step)},
          {"values", ToJson(init.values)},
          {"runId", ToJson(init.run.run.value)},
          {"stepLog", init.step_log}};
}

// In the order of RequestKind.
constexpr const char* kRequestKinds[] = {"describe", "init", "setup", "train", "evaluate", "save", "load", "proceed"};

Result<Init> ReadInit(const Json& json) {
  Init init;
  ESPALIER_ASSIGN(init.trainer, ReadText(json, "trainer"));
  ESPALIER_ASSIGN(init.data, ReadText(json, "data"));
  ESPALIER_ASSIGN(init.step, ReadStepMeaning(json, "step"));
  ESPALIER_ASSIGN(init.values, ReadValues(json, "values"));
  ESPALIER_ASSIGN(init.run.run.value, ReadInteger(json, "runId"));
  ESPALIER_ASSIGN(init.step_log, ReadText(json, "stepLog"));
  return init;
}

Result<Train> ReadTrain(const Json& json) {
  Train train;
  ESPALIER_ASSIGN(train.step.value, ReadInteger(json, "step"));
  ESPALIER_ASSIGN(train.until.value, ReadInteger(json, "until"));
  ESPALIER_ASSIGN(const std::vector<Json> ahead, ReadList(json, "ahead"));
  for (const Json& each : ahead) {
    if (!each.is_object()) return WrongField("ahead", "expected messages");
    ValuesAtStep& at = train.ahead.emplace_back();
    ESPALIER_ASSIGN(at.step.value, ReadInteger(each, "step"));
    ESPALIER_ASSIGN(at.values, ReadValues(each, "values"));
  }
  return train;
}

Result<Proceed> ReadProceed(const Json& json) {
  Proceed proceed;
  ESPALIER_ASSIGN(proceed.run.run.value, ReadInteger(json, "runId"));
  ESPALIER_ASSIGN(proceed.step_log, ReadText(json, "stepLog"));
  return proceed;
}

Result<Save> ReadSave(const Json& json) {
  Save save;
  ESPALIER_ASSIGN(save.path, ReadText(json, "path"));
  ESPALIER_ASSIGN(const Json identity, ReadObject(json, "identity"));
  ESPALIER_ASSIGN(save.identity, ReadIdentity(identity));
  return save;
}

Result<Load> ReadLoad(const Json& json) {
  Load load;
  ESPALIER_ASSIGN(load.path, ReadText(json, "path"));
  ESPALIER_ASSIGN(load.of_other_code, ReadBoolean(json, "ofOtherCode"));
  return load;
}

template <class Kind>
Result<RequestKind> Wrap(Result<Kind> kind) {
  return kind.map([](Kind read) { return RequestKind(std::move(read)); });
}

Result<RequestKind> ReadRequestKind(const Json& json) {
  for (const char* name : kRequestKinds) {
    const Json& kind = Member(json, name);
    if (kind.is_null()) continue;
    if (!kind.is_object()) return WrongField(name, "expected a message");
    const std::string_view text = name;
    if (text == "describe") {
      return Wrap(ReadTexts(kind, "capabilities").map([](Capabilities named) { return Describe{std::move(named)}; }));
    }
    if (text == "init") return Wrap(ReadInit(kind));
    if (text == "setup")
      return Wrap(ReadValues(kind, "values").map([](Values values) { return Setup{std::move(values)}; }));
    if (text == "train") return Wrap(ReadTrain(kind));
    if (text == "evaluate") return RequestKind(Evaluate{});
    if (text == "save") return Wrap(ReadSave(kind));
    if (text == "proceed") return Wrap(ReadProceed(kind));
    return Wrap(ReadLoad(kind));
  }
  return MakeError(ErrorCode::kInvalidArgument, "the request is of no known kind");
}

}  // namespace

std::string Encode(const WorkerRequest& request) {
  Json json{{"id", ToJson(request.id)}};
  json[kRequestKinds[request.kind.index()]] = std::visit([](const auto& kind) { return Body(kind); }, request.kind);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<WorkerRequest> DecodeRequest(std::string_view text) {
  ESPALIER_ASSIGN(const Json json, ParseObject(text));
  WorkerRequest request;
  ESPALIER_ASSIGN(request.id, ReadInteger(json, "id"));
  ESPALIER_ASSIGN(request.kind, ReadRequestKind(json));
  return request;
}

std::int64_t RequestId(std::string_view text) {
  const Result<Json> json = ParseObject(text);
  return json.has_value() ? ReadInteger(*json, "id").value_or(0) : 0;
}

std::string Print(const CheckpointIdentity& identity) { return ToJson(identity).dump(); }

Result<CheckpointIdentity> ParseCheckpointIdentity(std::string_view text) {
  ESPALIER_ASSIGN(const Json json, ParseObject(text));
  ESPALIER_ASSIGN(const CheckpointIdentity identity, ReadIdentity(json));
  if (identity.point.node.value > 0 && identity.run.leadership.value > 0 && identity.run.run.value > 0) return identity;
  return MakeError(ErrorCode::kInvalidArgument, "a checkpoint names its plan node, leadership and run");
}

}  // namespace espalier::worker
