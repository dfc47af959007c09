#include <string>

#include "master/core/state/stored_text.h"
#include "master/rpc/convert.h"
#include "proto/convert_schema.h"

namespace espalier::master {
namespace {

Metrics FromMap(const google::protobuf::Map<std::string, double>& map) { return {map.begin(), map.end()}; }

Result<TrainerRecord> FromProto(const v1::TrainerDescription& message) {
  TrainerRecord trainer{.name = message.name(),
                        .code_digest = message.code_digest(),
                        .data = message.data(),
                        .data_digest = message.data_digest(),
                        .evaluation_digest = message.evaluation_digest(),
                        .metrics = {message.metrics().begin(), message.metrics().end()}};
  ESPALIER_ASSIGN(trainer.schema, SchemaOf(message));
  return trainer;
}

RunState StateOf(const v1::RunStatus& message) {
  if (message.has_ended()) return RunState::kEnded;
  return message.has_saving() ? RunState::kSaving : RunState::kTraining;
}

Result<RunFailed::Kind> FromProto(v1::RunFailed::Kind kind) {
  switch (kind) {
    case v1::RunFailed::KIND_CRASH:
      return RunFailed::Kind::kCrash;
    case v1::RunFailed::KIND_TRAINER:
      return RunFailed::Kind::kTrainer;
    case v1::RunFailed::KIND_OUT_OF_MEMORY:
      return RunFailed::Kind::kOutOfMemory;
    case v1::RunFailed::KIND_DIVERGED:
      return RunFailed::Kind::kDiverged;
    case v1::RunFailed::KIND_EVALUATION:
      return RunFailed::Kind::kEvaluation;
    case v1::RunFailed::KIND_CHECKPOINT:
      return RunFailed::Kind::kCheckpoint;
    default:
      return MakeError(ErrorCode::kInvalidArgument, "unknown kind of failure", "reports.run_failed.kind");
  }
}

PointReached FromProto(const v1::PointReached& message) {
  PointReached reached{.plan = PlanId{message.plan_id()},
                       .point = {PlanNodeId{message.plan_node_id()}, Step{message.step()}},
                       .evaluation = message.evaluation_digest(),
                       .metrics = FromMap(message.metrics())};
  if (message.has_checkpoint()) {
    const v1::StoredCheckpoint& checkpoint = message.checkpoint();
    reached.checkpoint = StoredCheckpoint{checkpoint.file(), checkpoint.bytes(), checkpoint.state_sha256()};
  }
  return reached;
}

Result<Report> FromProto(const v1::Report& message) {
  Report report{.number = message.number(), .run = RunId{message.run_id()}};
  switch (message.kind_case()) {
    case v1::Report::kPointReached:
      report.kind = FromProto(message.point_reached());
      return report;
    case v1::Report::kPromiseLost: {
      const v1::PromiseLost& lost = message.promise_lost();
      report.kind = PromiseLost{lost.generation(), Step{lost.step()}, lost.why()};
      return report;
    }
    case v1::Report::kStepsTrained: {
      const v1::StepsTrained& trained = message.steps_trained();
      report.kind = StepsTrained{PlanNodeId{trained.plan_node_id()}, Step{trained.from_step()}, Step{trained.to_step()},
                                 Seconds(trained.seconds())};
      return report;
    }
    case v1::Report::kRunFailed: {
      const v1::RunFailed& failed = message.run_failed();
      ESPALIER_ASSIGN(const RunFailed::Kind kind, FromProto(failed.kind()));
      report.kind = RunFailed{kind, {PlanNodeId{failed.plan_node_id()}, Step{failed.step()}}, failed.message()};
      return report;
    }
    case v1::Report::kRunEnded: {
      const v1::RunEnded& ended = message.run_ended();
      report.kind = RunEnded{Step{ended.step()}, Seconds(ended.slot_seconds())};
      return report;
    }
    case v1::Report::KIND_NOT_SET:
      break;
  }
  return MakeError(ErrorCode::kInvalidArgument, "a report says nothing", "reports");
}

void FillRun(const DesiredRun& run, v1::DesiredRun& message) {
  message.set_run_id(run.run.value);
  message.set_generation(run.generation);
  message.set_slot(run.slot);
  message.set_trainer(run.training.trainer);
  message.set_data(run.training.data);
  if (run.training.step_updates == 0) {
    message.mutable_step()->set_epoch(true);
  } else {
    message.mutable_step()->set_updates(run.training.step_updates);
  }
  message.set_plan_id(run.plan.value);
  for (const HyperParameter& parameter : run.training.schema.hyper_parameters) {
    message.add_hyper_parameter_names(parameter.name);
    message.add_initial(parameter.initial);
  }
  if (run.start) {
    v1::StartPoint& start = *message.mutable_start();
    start.set_plan_node_id(run.start->point.node.value);
    start.set_step(run.start->point.step.value);
    start.set_file(run.start->file);
    start.set_state_sha256(run.start->state_sha256);
    start.set_configuration(run.start->configuration.bytes());
  }
  for (const DesiredStage& stage : run.path) {
    v1::PathStage& part = *message.add_path();
    part.set_plan_node_id(stage.stage.node.value);
    part.set_from_step(stage.stage.from.value);
    part.set_to_step(stage.stage.to.value);
    part.set_configuration(stage.configuration.bytes());
    part.set_lineage_digest(ToHex(stage.lineage));
  }
  for (const Target& target : run.targets) {
    v1::Target& part = *message.add_targets();
    part.set_step(target.step.value);
    part.set_evaluate(target.evaluate);
    part.set_save(target.save);
  }
  message.set_preempt(run.preempt);
  message.mutable_evaluate_every_steps()->Add(run.evaluate_every.begin(), run.evaluate_every.end());
  message.set_save_every_seconds(run.save_every.count());
  message.set_hang_seconds(run.hang_after.count());
  message.set_evaluation_digest(run.evaluation);
}

}  // namespace

Result<NodeMessage> FromProto(const v1::SynchronizeRequest& message, SessionId session) {
  NodeMessage result{.session = session};
  if (message.has_registration()) {
    const v1::Registration& from = message.registration();
    if (from.server().empty() || from.incarnation().empty() || from.slot_count() < 0) {
      return MakeError(ErrorCode::kInvalidArgument, "a registration names server, incarnation and slots",
                       "registration");
    }
    Registration registration{.server = from.server(),
                              .incarnation = from.incarnation(),
                              .slot_count = from.slot_count(),
                              .device_kind = from.device_kind()};
    for (const v1::TrainerDescription& trainer : from.trainers()) {
      ESPALIER_ASSIGN(TrainerRecord record, FromProto(trainer));
      registration.trainers.push_back(std::move(record));
    }
    // The core would end the stream without a reason that the node manager sees.
    if (auto fits = CheckRegistration(registration); !fits.has_value()) return InField("registration", fits.error());
    result.registration = std::move(registration);
  }
  for (const v1::RunStatus& status : message.runs()) {
    result.runs.push_back({RunId{status.run_id()}, status.generation(), Step{status.step()}, StateOf(status)});
  }
  for (const v1::Report& part : message.reports()) {
    ESPALIER_ASSIGN(Report report, FromProto(part));
    result.reports.push_back(std::move(report));
  }
  return result;
}

v1::SynchronizeResponse ToProto(const SendDesired& desired) {
  v1::SynchronizeResponse message;
  for (const DesiredRun& run : desired.runs) FillRun(run, *message.add_runs());
  message.set_acknowledged_report(desired.acknowledged_report);
  message.mutable_superseded_files()->Add(desired.superseded_files.begin(), desired.superseded_files.end());
  return message;
}

v1::TrainerDescription ToProto(const TrainerRecord& trainer) {
  v1::TrainerDescription message;
  message.set_name(trainer.name);
  message.set_code_digest(trainer.code_digest);
  message.set_data(trainer.data);
  message.set_data_digest(trainer.data_digest);
  message.set_evaluation_digest(trainer.evaluation_digest);
  AddSchema(trainer.schema, message);
  message.mutable_metrics()->Add(trainer.metrics.begin(), trainer.metrics.end());
  return message;
}

}  // namespace espalier::master
