#include "worker/node/convert.h"

#include "base/text.h"
#include "espalier/v1/node_manager.pb.h"
#include "espalier/v1/trainer.pb.h"
#include "proto/convert_schema.h"

namespace espalier::node {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

using Metrics = std::map<std::string, double>;

// Of what a report says for people. As much as the master keeps.
constexpr std::size_t kMessageBytesMax = std::size_t{16} << 10;

Metrics ToMetrics(const google::protobuf::Map<std::string, double>& metrics) {
  return {metrics.begin(), metrics.end()};
}

// A text that is not UTF-8 would make the receiver refuse the whole message, and again whenever it is repeated.
void SetMetrics(const Metrics& from, google::protobuf::Map<std::string, double>& to) {
  for (const auto& [name, value] : from) to[CleanText(name)] = value;
}

void SetValues(const Values& from, google::protobuf::Map<std::string, v1::Value>& to) {
  for (const auto& [name, value] : from) to[name] = espalier::ToProto(value);
}

void Set(const StepMeaning& step, v1::StepMeaning& proto) {
  step.epoch ? proto.set_epoch(true) : proto.set_updates(step.updates);
}

void Set(const Init& init, v1::InitRequest& proto) {
  proto.set_trainer(init.trainer);
  proto.set_data(init.data);
  Set(init.step, *proto.mutable_step());
  SetValues(init.values, *proto.mutable_values());
  proto.set_run_id(init.run.value);
  proto.set_step_log(init.step_log);
}

void Set(const Save& save, v1::SaveRequest& proto) {
  proto.set_path(save.path);
  v1::CheckpointIdentity& identity = *proto.mutable_identity();
  identity.set_plan_id(save.identity.plan.value);
  identity.set_plan_node_id(save.identity.plan_node.value);
  identity.set_step(save.identity.step.value);
  identity.set_run_id(save.identity.run.value);
  identity.set_lineage_digest(save.identity.lineage_digest);
  identity.set_evaluation_digest(save.identity.evaluation_digest);
  SetMetrics(save.identity.metrics, *identity.mutable_metrics());
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

v1::RunFailed::Kind ToProto(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCrash:
      return v1::RunFailed::KIND_CRASH;
    case FaultKind::kTrainer:
      return v1::RunFailed::KIND_TRAINER;
    case FaultKind::kOutOfMemory:
      return v1::RunFailed::KIND_OUT_OF_MEMORY;
    case FaultKind::kDiverged:
      return v1::RunFailed::KIND_DIVERGED;
    case FaultKind::kEvaluation:
      return v1::RunFailed::KIND_EVALUATION;
    case FaultKind::kCheckpoint:
      return v1::RunFailed::KIND_CHECKPOINT;
  }
  return v1::RunFailed::KIND_UNSPECIFIED;
}

void Set(const PointReached& point, v1::PointReached& proto) {
  proto.set_plan_id(point.plan.value);
  proto.set_plan_node_id(point.plan_node.value);
  proto.set_step(point.step.value);
  proto.set_evaluation_digest(point.evaluation_digest);
  SetMetrics(point.metrics, *proto.mutable_metrics());
  proto.set_evaluate_seconds(point.evaluate_time.count());
  if (!point.checkpoint.has_value()) return;
  v1::StoredCheckpoint& checkpoint = *proto.mutable_checkpoint();
  checkpoint.set_file(point.checkpoint->file);
  checkpoint.set_bytes(point.checkpoint->bytes);
  checkpoint.set_state_sha256(point.checkpoint->state_sha256);
  checkpoint.set_blocking_seconds(point.checkpoint->blocking.count());
}

void Set(const ReportKind& kind, v1::Report& proto) {
  std::visit(Overloaded{[&](const PointReached& point) { Set(point, *proto.mutable_point_reached()); },
                        [&](const PromiseLost& lost) {
                          proto.mutable_promise_lost()->set_generation(lost.generation);
                          proto.mutable_promise_lost()->set_step(lost.step.value);
                          proto.mutable_promise_lost()->set_why(CleanText(lost.why, kMessageBytesMax));
                        },
                        [&](const StepsTrained& trained) {
                          proto.mutable_steps_trained()->set_plan_node_id(trained.plan_node.value);
                          proto.mutable_steps_trained()->set_from_step(trained.from.value);
                          proto.mutable_steps_trained()->set_to_step(trained.to.value);
                          proto.mutable_steps_trained()->set_seconds(trained.time.count());
                        },
                        [&](const RunFailed& failed) {
                          proto.mutable_run_failed()->set_kind(ToProto(failed.kind));
                          proto.mutable_run_failed()->set_step(failed.step.value);
                          proto.mutable_run_failed()->set_plan_node_id(failed.plan_node.value);
                          proto.mutable_run_failed()->set_message(CleanText(failed.message, kMessageBytesMax));
                        },
                        [&](const RunEnded& ended) {
                          proto.mutable_run_ended()->set_step(ended.step.value);
                          proto.mutable_run_ended()->set_slot_seconds(ended.slot_time.count());
                          proto.mutable_run_ended()->set_load_seconds(ended.load_time.count());
                        }},
             kind);
}

Configuration ToConfiguration(const std::string& bytes) { return ParseConfiguration(bytes).value_or(Configuration{}); }

Wishes ToWishes(const v1::DesiredRun& proto) {
  Wishes wishes;
  wishes.generation = proto.generation();
  for (const v1::Target& target : proto.targets()) {
    wishes.targets.push_back({Step{target.step()}, target.evaluate(), target.save()});
  }
  wishes.preempt = proto.preempt();
  wishes.evaluate_every_steps.assign(proto.evaluate_every_steps().begin(), proto.evaluate_every_steps().end());
  wishes.save_every = Seconds(proto.save_every_seconds());
  wishes.hang = Seconds(proto.hang_seconds());
  return wishes;
}

DesiredRun ToDesiredRun(const v1::DesiredRun& proto) {
  DesiredRun run;
  run.run = RunId{proto.run_id()};
  run.slot = proto.slot();
  run.trainer = proto.trainer();
  run.data = proto.data();
  run.step = {!proto.step().has_updates(), proto.step().updates()};
  run.plan = PlanId{proto.plan_id()};
  run.hyper_parameter_names.assign(proto.hyper_parameter_names().begin(), proto.hyper_parameter_names().end());
  run.initial.assign(proto.initial().begin(), proto.initial().end());
  if (proto.has_start()) {
    const v1::StartPoint& start = proto.start();
    run.start = StartPoint{PlanNodeId{start.plan_node_id()}, Step{start.step()}, start.file(), start.state_sha256(),
                           ToConfiguration(start.configuration())};
  }
  for (const v1::PathStage& stage : proto.path()) {
    run.path.push_back({PlanNodeId{stage.plan_node_id()}, Step{stage.from_step()}, Step{stage.to_step()},
                        ToConfiguration(stage.configuration()), stage.lineage_digest()});
  }
  run.wishes = ToWishes(proto);
  run.evaluation_digest = proto.evaluation_digest();
  return run;
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
      Description description{proto.describe().protocol_version(), proto.describe().device_kind(), {}};
      for (const auto& trainer : proto.describe().trainers())
        description.trainers.push_back(trainer.SerializeAsString());
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
      return WorkerReply{proto.id(), Saved{proto.save().state_sha256(), proto.save().bytes(),
                                           Seconds(proto.save().blocking_seconds())}};
    case v1::TrainerReply::kFailure:
      return WorkerReply{proto.id(), Failure{ToFailureKind(proto.failure().kind()), proto.failure().message()}};
    case v1::TrainerReply::KIND_NOT_SET:
      break;
  }
  return MakeError(ErrorCode::kInvalidArgument, "a reply of unknown kind");
}

Result<CheckpointOfRun> DecodeCheckpointHead(std::string_view bytes) {
  v1::CheckpointHead head;
  if (!head.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || head.identity().plan_node_id() == 0) {
    return MakeError(ErrorCode::kInvalidArgument, "not the head of a checkpoint");
  }
  const v1::CheckpointIdentity& identity = head.identity();
  CheckpointOfRun found;
  found.run = RunId{identity.run_id()};
  found.point = {PlanId{identity.plan_id()},
                 PlanNodeId{identity.plan_node_id()},
                 Step{identity.step()},
                 identity.evaluation_digest(),
                 ToMetrics(identity.metrics()),
                 Seconds(0),
                 StoredCheckpoint{"", 0, head.state_sha256(), Seconds(0)}};
  return found;
}

void Add(const Registration& registration, v1::SynchronizeRequest& request) {
  v1::Registration& proto = *request.mutable_registration();
  proto.set_server(registration.server);
  proto.set_incarnation(registration.incarnation);
  proto.set_slot_count(registration.slot_count);
  proto.set_device_kind(registration.description.device_kind);
  for (const std::string& trainer : registration.description.trainers) proto.add_trainers()->ParseFromString(trainer);
}

void Add(const std::vector<RunStatus>& statuses, v1::SynchronizeRequest& request) {
  for (const RunStatus& status : statuses) {
    v1::RunStatus& proto = *request.add_runs();
    proto.set_run_id(status.run.value);
    proto.set_generation(status.generation);
    proto.set_step(status.step.value);
    switch (status.state) {
      case RunState::kTraining:
        proto.set_training(true);
        break;
      case RunState::kSaving:
        proto.set_saving(true);
        break;
      case RunState::kEnded:
        proto.set_ended(true);
        break;
    }
  }
}

void Add(const std::vector<Report>& reports, v1::SynchronizeRequest& request) {
  for (const Report& report : reports) {
    v1::Report& proto = *request.add_reports();
    proto.set_number(report.number);
    proto.set_run_id(report.run.value);
    Set(report.kind, proto);
  }
}

DesiredState FromProto(const v1::SynchronizeResponse& response) {
  DesiredState desired;
  for (const v1::DesiredRun& run : response.runs()) desired.runs.push_back(ToDesiredRun(run));
  desired.acknowledged_report = response.acknowledged_report();
  desired.superseded_files.assign(response.superseded_files().begin(), response.superseded_files().end());
  return desired;
}

}  // namespace espalier::node
