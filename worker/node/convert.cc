#include "worker/node/convert.h"

#include "espalier/v1/trainer.pb.h"
#include "proto/convert_node_protocol.h"
#include "proto/convert_schema.h"

namespace espalier::node {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

Metrics ToMetrics(const google::protobuf::Map<std::string, double>& metrics) {
  return {metrics.begin(), metrics.end()};
}

void SetValues(const Values& from, google::protobuf::Map<std::string, v1::Value>& to) {
  for (const auto& [name, value] : from) to[name] = espalier::ToProto(value);
}

void Set(const Init& init, v1::InitRequest& proto) {
  proto.set_trainer(init.trainer);
  proto.set_data(init.data);
  *proto.mutable_step() = espalier::ToProto(init.step);
  SetValues(init.values, *proto.mutable_values());
  proto.set_run_id(init.run.run.value);
  proto.set_step_log(init.step_log);
}

void Set(const Save& save, v1::SaveRequest& proto) {
  proto.set_path(save.path);
  v1::CheckpointIdentity& identity = *proto.mutable_identity();
  identity.set_plan_id(save.identity.plan.value);
  identity.set_plan_node_id(save.identity.point.node.value);
  identity.set_step(save.identity.point.step.value);
  identity.set_leadership_id(save.identity.run.leadership.value);
  identity.set_run_id(save.identity.run.run.value);
  identity.set_lineage_digest(ToHex(save.identity.lineage));
}

FailureKind ToFailureKind(v1::FailureKind kind) {
  switch (kind) {
    case v1::FAILURE_KIND_OUT_OF_MEMORY:
      return FailureKind::kOutOfMemory;
    case v1::FAILURE_KIND_CHECKPOINT:
      return FailureKind::kCheckpoint;
    case v1::FAILURE_KIND_REQUEST:
      return FailureKind::kRequest;
    default:
      return FailureKind::kTrainer;
  }
}

Result<Description> ToDescription(const v1::DescribeReply& proto) {
  Description description{proto.protocol_version(), proto.device_kind(), {}};
  for (const v1::TrainerDescription& trainer : proto.trainers()) {
    ESPALIER_ASSIGN(Offer offer, espalier::FromProto(trainer));
    description.offers.push_back(std::move(offer));
  }
  return description;
}

}  // namespace

std::string Encode(const WorkerRequest& request) {
  v1::TrainerRequest proto;
  proto.set_id(request.id);
  std::visit(Overloaded{[&](const Describe&) { proto.mutable_describe(); },
                        [&](const Init& init) { Set(init, *proto.mutable_init()); },
                        [&](const Setup& setup) { SetValues(setup.values, *proto.mutable_setup()->mutable_values()); },
                        [&](const Train& train) { proto.mutable_train()->set_step(train.step.value); },
                        [&](const Evaluate&) { proto.mutable_evaluate(); },
                        [&](const Save& save) { Set(save, *proto.mutable_save()); },
                        [&](const Load& load) { proto.mutable_load()->set_path(load.path); }},
             request.kind);
  return proto.SerializeAsString();
}

Result<WorkerReply> DecodeReply(std::string_view bytes) {
  v1::TrainerReply proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return MakeError(ErrorCode::kInvalidArgument, "not a reply of the trainer protocol");
  }
  switch (proto.kind_case()) {
    case v1::TrainerReply::kDescribe: {
      ESPALIER_ASSIGN(Description description, ToDescription(proto.describe()));
      return WorkerReply{proto.id(), std::move(description)};
    }
    case v1::TrainerReply::kDone:
      return WorkerReply{proto.id(), Done{}};
    case v1::TrainerReply::kTrain:
      return WorkerReply{proto.id(), Trained{ToMetrics(proto.train().metrics()), Seconds(proto.train().seconds())}};
    case v1::TrainerReply::kEvaluate:
      return WorkerReply{proto.id(),
                         Evaluated{ToMetrics(proto.evaluate().metrics()), Seconds(proto.evaluate().seconds())}};
    case v1::TrainerReply::kSave:
      return WorkerReply{proto.id(), Saved{proto.save().state_sha256(), proto.save().bytes()}};
    case v1::TrainerReply::kFailure: {
      const v1::FailureReply& failure = proto.failure();
      return WorkerReply{proto.id(), Failure{ToFailureKind(failure.kind()), failure.message(), failure.state_intact()}};
    }
    case v1::TrainerReply::KIND_NOT_SET:
      break;
  }
  return MakeError(ErrorCode::kInvalidArgument, "a reply of unknown kind");
}

Result<StateOfRun> DecodeCheckpointHead(std::string_view bytes) {
  v1::CheckpointHead head;
  const bool is_head = head.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const v1::CheckpointIdentity& identity = head.identity();
  if (!is_head || identity.plan_node_id() <= 0 || identity.leadership_id() <= 0 || identity.run_id() <= 0) {
    return MakeError(ErrorCode::kInvalidArgument, "not the head of a checkpoint");
  }
  ESPALIER_ASSIGN(const Digest128 lineage, ParseDigest128(identity.lineage_digest()));
  StateOfRun found{.run = {LeadershipId{identity.leadership_id()}, RunId{identity.run_id()}}};
  found.state.plan = PlanId{identity.plan_id()};
  found.state.point = {PlanNodeId{identity.plan_node_id()}, Step{identity.step()}};
  found.state.lineage = lineage;
  found.state.state_sha256 = head.state_sha256();
  return found;
}

}  // namespace espalier::node
