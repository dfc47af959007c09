#include "worker/node/convert.h"

#include <catch2/catch.hpp>

#include "espalier/v1/trainer.pb.h"

namespace espalier::node {
namespace {

v1::TrainerRequest Encoded(RequestKind kind) {
  v1::TrainerRequest request;
  REQUIRE(request.ParseFromString(Encode({5, std::move(kind)})));
  CHECK(request.id() == 5);
  return request;
}

WorkerReply Decoded(const v1::TrainerReply& reply) { return DecodeReply(reply.SerializeAsString()).value(); }

const CheckpointIdentity kIdentity{.run = {LeadershipId{77}, RunId{5}},
                                   .plan = PlanId{1},
                                   .point = {PlanNodeId{2}, Step{3}},
                                   .lineage = DigestOf("lineage")};

}  // namespace

TEST_CASE("a worker is told the trainer, the run and all values to begin with") {
  const auto request = Encoded(
      Init{{LeadershipId{77}, RunId{5}}, "mlp", "digits", {.updates = 200}, {{"lr", Value{0.5}}}, "/steps/77-5.log"});
  CHECK(request.init().trainer() == "mlp");
  CHECK(request.init().data() == "digits");
  CHECK(request.init().step().updates() == 200);
  CHECK(request.init().values().at("lr").floating() == 0.5);
  CHECK(request.init().run_id() == 5);
  CHECK(request.init().step_log() == "/steps/77-5.log");
  CHECK(Encoded(Init{}).init().step().epoch());
}

TEST_CASE("what a checkpoint file says of its point and run reads back") {
  const v1::TrainerRequest request = Encoded(Save{"/staging/a", kIdentity});
  CHECK(request.save().path() == "/staging/a");
  v1::CheckpointHead head;
  *head.mutable_identity() = request.save().identity();
  head.set_state_sha256("sha");
  const StateOfRun found = DecodeCheckpointHead(head.SerializeAsString()).value();
  CHECK(found.run == kIdentity.run);
  CHECK(found.state.plan == kIdentity.plan);
  CHECK(found.state.point == kIdentity.point);
  CHECK(found.state.lineage == kIdentity.lineage);
  CHECK(found.state.state_sha256 == "sha");
}

TEST_CASE("bytes that are no checkpoint's head are refused") {
  CHECK_FALSE(DecodeCheckpointHead("nonsense").has_value());
  CHECK_FALSE(DecodeCheckpointHead("").has_value());
  v1::CheckpointHead head;
  *head.mutable_identity() = Encoded(Save{"", kIdentity}).save().identity();
  REQUIRE(DecodeCheckpointHead(head.SerializeAsString()).has_value());
  head.mutable_identity()->clear_leadership_id();
  CHECK_FALSE(DecodeCheckpointHead(head.SerializeAsString()).has_value());
}

TEST_CASE("a failure says its kind, and whether training can go on") {
  v1::TrainerReply reply;
  reply.set_id(7);
  reply.mutable_failure()->set_kind(v1::FAILURE_KIND_OUT_OF_MEMORY);
  reply.mutable_failure()->set_message("too large");
  CHECK_FALSE(std::get<Failure>(Decoded(reply).kind).state_intact);
  reply.mutable_failure()->set_state_intact(true);
  const WorkerReply decoded = Decoded(reply);
  CHECK(decoded.id == 7);
  CHECK(std::get<Failure>(decoded.kind).kind == FailureKind::kOutOfMemory);
  CHECK(std::get<Failure>(decoded.kind).message == "too large");
  CHECK(std::get<Failure>(decoded.kind).state_intact);
}

TEST_CASE("a description becomes offers; one that makes no sense is no reply") {
  v1::TrainerReply reply;
  reply.mutable_describe()->set_protocol_version(1);
  reply.mutable_describe()->set_device_kind("kind");
  v1::TrainerDescription& trainer = *reply.mutable_describe()->add_trainers();
  trainer.set_name("toy");
  trainer.set_code_digest("toy-1");
  v1::HyperParameter& lr = *trainer.add_hyper_parameters();
  lr.set_name("lr");
  lr.set_type(v1::VALUE_TYPE_FLOATING);
  lr.mutable_default_value()->set_floating(0.1);
  const auto description = std::get<Description>(Decoded(reply).kind);
  CHECK(description.protocol_version == 1);
  CHECK(description.device_kind == "kind");
  REQUIRE(description.offers.size() == 1);
  CHECK(description.offers[0].trainer == "toy");
  CHECK(description.offers[0].schema.Find("lr")->default_value == Value{0.1});
  lr.set_type(v1::VALUE_TYPE_UNSPECIFIED);
  CHECK(DecodeReply(reply.SerializeAsString()).error().code == ErrorCode::kInvalidArgument);
  CHECK_FALSE(DecodeReply("nonsense").has_value());
}

}  // namespace espalier::node
