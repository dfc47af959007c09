#include "worker/protocol/encoding.h"

#include <google/protobuf/util/json_util.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "espalier/v1/trainer.pb.h"

namespace espalier::worker {
namespace {

constexpr std::int64_t kLarge = (std::int64_t{1} << 60) + 1;  // no double is this number

const CheckpointIdentity kIdentity{.run = {LeadershipId{kLarge}, RunId{5}},
                                   .plan = PlanId{1},
                                   .point = {PlanNodeId{2}, Step{3}},
                                   .lineage = DigestOf("lineage")};

const Values kValues{{"lr", 0.1}, {"bs", kLarge}, {"nesterov", true}, {"optimizer", std::string("sgd \"\xc3\xa9")}};

const std::vector<RequestKind> kRequests{Describe{{"proceed"}},
                                         Init{{{}, RunId{5}}, "mlp", "digits", {200}, kValues, "/steps/77-5.log"},
                                         Init{{{}, RunId{5}}, "mlp", "", {}, {}, ""},
                                         Setup{kValues},
                                         Train{Step{7}},
                                         Train{Step{7}, Step{9}, {{Step{7}, kValues}, {Step{8}, {{"lr", 0.2}}}}},
                                         Evaluate{},
                                         Save{"/staging/a", kIdentity},
                                         Load{"/store/a"},
                                         Load{"/store/a", true},
                                         Proceed{{{}, RunId{kLarge}}, "/steps/77-6"}};

Offer SomeOffer() {
  return {.trainer = "toy",
          .code_digest = "toy-1",
          .data = "digits",
          .data_digest = "digits-1",
          .evaluation_digest = "evaluation-1",
          .schema = {.hyper_parameters = {{"bs", ValueType::kInteger, Value{kLarge}, false},
                                          {"seed", ValueType::kInteger, Value{std::int64_t{0}}, true}},
                     .takes_any = true},
          .metrics = {"acc", "loss"}};
}

const std::vector<ReplyKind> kReplies{
    Description{1, "cpu", {SomeOffer()}, {"proceed", "later"}},
    Done{},
    Trained{{{"loss", 0.1}, {"large", std::numeric_limits<double>::infinity()}}, Seconds(0.5), kLarge},
    Trained{.metrics = {{"loss", 0.1}}, .goes_on = true, .peak_device_bytes = kLarge},
    Evaluated{{{"acc", -std::numeric_limits<double>::infinity()}}, Seconds(0.25)},
    Saved{"sha", kLarge, Seconds(0.5), Seconds(1)},
    Failure{FailureKind::kOutOfMemory, "too\nlarge", true},
    Failure{FailureKind::kTrainer, "", false, true},
    Failure{FailureKind::kCheckpoint, "", false},
    Failure{FailureKind::kRequest, "", false},
    Heartbeat{}};

template <class Message>
Message FromJson(const std::string& json) {
  Message message;
  INFO(json);
  REQUIRE(google::protobuf::util::JsonStringToMessage(json, &message).ok());
  return message;
}

std::string ToJson(const google::protobuf::Message& message, bool with_defaults) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = with_defaults;
  std::string json;
  REQUIRE(google::protobuf::util::MessageToJsonString(message, &json, options).ok());
  return json;
}

}  // namespace

TEST_CASE("requests are what protobuf's mapping makes of the protocol's messages, both ways") {
  for (std::size_t i = 0; i < kRequests.size(); ++i) {
    const WorkerRequest request{static_cast<std::int64_t>(i) + 1, kRequests[i]};
    const auto message = FromJson<v1::TrainerRequest>(Encode(request));
    CHECK(message.id() == request.id);
    CHECK(DecodeRequest(Encode(request)).value() == request);
    for (const bool with_defaults : {true, false})
      CHECK(DecodeRequest(ToJson(message, with_defaults)).value() == request);
  }
  const auto init = FromJson<v1::TrainerRequest>(Encode(WorkerRequest{1, kRequests[1]})).init();
  CHECK(init.trainer() == "mlp");
  CHECK(init.step().updates() == 200);
  CHECK(init.values().at("bs").integer() == kLarge);
  CHECK(init.values().at("optimizer").text() == "sgd \"\xc3\xa9");
  CHECK(init.step_log() == "/steps/77-5.log");
  const auto save = FromJson<v1::TrainerRequest>(Encode(WorkerRequest{1, kRequests[7]})).save();
  CHECK(save.path() == "/staging/a");
  CHECK(save.identity().leadership_id() == kLarge);
  CHECK(save.identity().lineage_digest() == ToHex(kIdentity.lineage));
}

TEST_CASE("replies are what protobuf's mapping makes of the protocol's messages, both ways") {
  for (std::size_t i = 0; i < kReplies.size(); ++i) {
    const WorkerReply reply{static_cast<std::int64_t>(i) + 1, kReplies[i]};
    const auto message = FromJson<v1::TrainerReply>(Encode(reply));
    CHECK(message.id() == reply.id);
    CHECK(DecodeReply(Encode(reply)).value() == reply);
    for (const bool with_defaults : {true, false}) CHECK(DecodeReply(ToJson(message, with_defaults)).value() == reply);
  }
  const auto described = FromJson<v1::TrainerReply>(Encode(WorkerReply{1, kReplies[0]})).describe();
  CHECK(described.trainers(0).hyper_parameters(0).default_value().integer() == kLarge);
  CHECK(described.trainers(0).hyper_parameters(1).initial());
  CHECK(described.trainers(0).takes_any());
}

TEST_CASE("a number that is none is a metric like any other") {
  const WorkerReply reply{1, Trained{{{"loss", std::nan("")}}, Seconds(0)}};
  CHECK(std::isnan(FromJson<v1::TrainerReply>(Encode(reply)).train().metrics().at("loss")));
  CHECK(std::isnan(std::get<Trained>(DecodeReply(Encode(reply)).value().kind).metrics.at("loss")));
}

TEST_CASE("what other languages write is read: numbers as text, left-out fields, fields that are not known") {
  CHECK(DecodeReply(R"({"id":"7","done":{"more":[1]},"later":{"x":null}})").value() == WorkerReply{7, Done{}});
  CHECK(DecodeReply(R"({"id":1e1,"train":{"metrics":{"loss":1,"samples":"2.5"}}})").value() ==
        WorkerReply{10, Trained{{{"loss", 1}, {"samples", 2.5}}, Seconds(0)}});
  CHECK(
      DecodeReply(R"({"id":1,"describe":{"protocolVersion":1,"trainers":[{"name":"t","codeDigest":"c","dataDigest":"d",
      "evaluationDigest":"e","hyperParameters":[{"name":"lr","type":"VALUE_TYPE_FLOATING","defaultValue":{"integer":1}}]}]}})")
          .has_value());
}

TEST_CASE("what is no message is refused, and the field named") {
  for (const char* json :
       {"", "no JSON", "[]", "{}", R"({"id":1})", R"({"id":1,"dance":{}})", R"({"id":"x","done":{}})",
        R"({"id":1.5,"done":{}})", R"({"id":9223372036854775808,"done":{}})", R"({"id":1,"done":3})",
        R"({"id":1,"train":{"metrics":{"loss":"high"}}})", R"({"id":1,"failure":{"kind":"BAD"}})",
        R"({"id":1,"failure":{"kind":"FAILURE_KIND_TRAINER","message":"\u0000"}})"}) {
    INFO(json);
    const auto reply = DecodeReply(json);
    REQUIRE_FALSE(reply.has_value());
    CHECK(reply.error().code == ErrorCode::kInvalidArgument);
  }
  CHECK(DecodeRequest(R"({"id":1,"init":{"step":{"updates":0}}})").error().field == "step");
  CHECK(DecodeRequest(R"({"id":1,"setup":{"values":{"lr":{}}}})").error().field == "lr");
  CHECK(RequestId(R"({"id":3,"dance":{}})") == 3);
  CHECK(RequestId("no JSON") == 0);
  CHECK_FALSE(DecodeReply(std::string(1 << 20, '[')).has_value());
}

TEST_CASE("a trainer that is described without what it needs, or one hyper-parameter twice, is no trainer") {
  const std::string whole = Encode(WorkerReply{1, Description{1, "cpu", {SomeOffer()}}});
  REQUIRE(DecodeReply(whole).has_value());
  for (const char* text :
       {"\"toy\"", "\"toy-1\"", "\"digits-1\"", "\"evaluation-1\"", "\"VALUE_TYPE_INTEGER\"", "\"seed\""}) {
    std::string without = whole;
    without.replace(without.find(text), std::string(text).size(), std::string(text) == "\"seed\"" ? "\"bs\"" : "\"\"");
    INFO(without);
    CHECK_FALSE(DecodeReply(without).has_value());
  }
}

TEST_CASE("a checkpoint's identity reads back; one that names no run, plan node or lineage is none") {
  const std::string whole = Print(kIdentity);
  CHECK(ParseCheckpointIdentity(whole).value() == kIdentity);
  CHECK(FromJson<v1::CheckpointIdentity>(whole).leadership_id() == kLarge);
  for (const char* name : {"leadershipId", "runId", "planNodeId", "lineageDigest"}) {
    std::string without = whole;
    without.replace(without.find(name), std::string(name).size(), "other");
    INFO(without);
    CHECK_FALSE(ParseCheckpointIdentity(without).has_value());
  }
}

}  // namespace espalier::worker
