#include "base/text.h"
#include "proto/convert_node_protocol.h"
#include "proto/node_protocol_parts.h"

namespace espalier {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

void Set(const Metrics& metrics, google::protobuf::Map<std::string, double>& message) {
  for (const auto& [name, value] : metrics) message[CleanText(name)] = value;
}

void Set(const MetricsMeasured& measured, v1::MetricsMeasured& message) {
  message.set_plan_id(measured.plan.value);
  Set(measured.point, *message.mutable_point());
  message.set_lineage_digest(ToHex(measured.lineage));
  message.set_evaluation_digest(measured.evaluation);
  Set(measured.metrics, *message.mutable_metrics());
  message.set_seconds(measured.time.count());
}

Result<ReportKind> FromProto(const v1::MetricsMeasured& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  return MetricsMeasured{PlanId{message.plan_id()},
                         point,
                         lineage,
                         message.evaluation_digest(),
                         {message.metrics().begin(), message.metrics().end()},
                         ToSeconds(message.seconds())};
}

void Set(const TrainingMetrics& trained, v1::TrainingMetrics& message) {
  message.set_plan_id(trained.plan.value);
  message.set_plan_node_id(trained.node.value);
  message.set_lineage_digest(ToHex(trained.lineage));
  for (const std::string& name : trained.series.names) message.add_names(CleanText(name));
  for (const Step step : trained.series.steps) message.add_steps(step.value);
  message.mutable_values()->Add(trained.series.values.begin(), trained.series.values.end());
}

Result<ReportKind> FromProto(const v1::TrainingMetrics& message) {
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  TrainingMetrics trained{PlanId{message.plan_id()}, PlanNodeId{message.plan_node_id()}, lineage, {}};
  trained.series.names.assign(message.names().begin(), message.names().end());
  for (const std::int64_t step : message.steps()) trained.series.steps.push_back(Step{step});
  trained.series.values.assign(message.values().begin(), message.values().end());
  return trained;
}

void Set(const StateStored& stored, v1::StateStored& message) {
  message.set_plan_id(stored.plan.value);
  Set(stored.point, *message.mutable_point());
  message.set_lineage_digest(ToHex(stored.lineage));
  message.set_file(stored.file);
  message.set_bytes(stored.bytes);
  message.set_state_sha256(stored.state_sha256);
  message.set_seconds(stored.time.count());
}

Result<ReportKind> FromProto(const v1::StateStored& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  return StateStored{
      PlanId{message.plan_id()},   point, lineage, message.file(), message.bytes(), message.state_sha256(),
      ToSeconds(message.seconds())};
}

void Set(const PromiseLost& lost, v1::PromiseLost& message) {
  message.set_promise_id(lost.promise.value);
  message.set_step(lost.step.value);
  message.set_why(ForPeople(lost.why));
}

void Set(const StepsTrained& trained, v1::StepsTrained& message) {
  message.set_plan_node_id(trained.node.value);
  message.set_from_step(trained.from.value);
  message.set_to_step(trained.to.value);
  message.set_seconds(trained.time.count());
}

constexpr std::pair<RunFailed::Kind, v1::RunFailed::Kind> kRunFailures[] = {
    {RunFailed::Kind::kCrash, v1::RunFailed::KIND_CRASH},
    {RunFailed::Kind::kKilled, v1::RunFailed::KIND_KILLED},
    {RunFailed::Kind::kTrainer, v1::RunFailed::KIND_TRAINER},
    {RunFailed::Kind::kOutOfMemory, v1::RunFailed::KIND_OUT_OF_MEMORY},
    {RunFailed::Kind::kDiverged, v1::RunFailed::KIND_DIVERGED},
    {RunFailed::Kind::kUnusable, v1::RunFailed::KIND_UNUSABLE},
    {RunFailed::Kind::kFinished, v1::RunFailed::KIND_FINISHED}};

constexpr std::pair<EvaluationFailed::Kind, v1::EvaluationFailed::Kind> kEvaluationFailures[] = {
    {EvaluationFailed::Kind::kCrash, v1::EvaluationFailed::KIND_CRASH},
    {EvaluationFailed::Kind::kTrainer, v1::EvaluationFailed::KIND_TRAINER},
    {EvaluationFailed::Kind::kOutOfMemory, v1::EvaluationFailed::KIND_OUT_OF_MEMORY},
    {EvaluationFailed::Kind::kUnusable, v1::EvaluationFailed::KIND_UNUSABLE}};

void Set(const RunFailed& failed, v1::RunFailed& message) {
  for (const auto& [kind, on_the_wire] : kRunFailures) {
    if (kind == failed.kind) message.set_kind(on_the_wire);
  }
  Set(failed.point, *message.mutable_point());
  message.set_message(ForPeople(failed.message));
}

Result<ReportKind> FromProto(const v1::RunFailed& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  for (const auto& [kind, on_the_wire] : kRunFailures) {
    if (on_the_wire == message.kind()) return RunFailed{kind, point, message.message()};
  }
  return Unknown("kind");
}

void Set(const EvaluationFailed& failed, v1::EvaluationFailed& message) {
  for (const auto& [kind, on_the_wire] : kEvaluationFailures) {
    if (kind == failed.kind) message.set_kind(on_the_wire);
  }
  Set(failed.point, *message.mutable_point());
  message.set_evaluation_digest(failed.evaluation);
  message.set_message(ForPeople(failed.message));
}

Result<ReportKind> FromProto(const v1::EvaluationFailed& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  for (const auto& [kind, on_the_wire] : kEvaluationFailures) {
    if (on_the_wire == message.kind()) {
      return EvaluationFailed{kind, point, message.evaluation_digest(), message.message()};
    }
  }
  return Unknown("kind");
}

void Set(const StartUnusable& start, v1::StartUnusable& message) {
  Set(start.point, *message.mutable_point());
  message.set_file(start.file);
  message.set_why(ForPeople(start.why));
}

Result<ReportKind> FromProto(const v1::StartUnusable& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  return StartUnusable{point, message.file(), message.why()};
}

void Set(const RunEnded& ended, v1::RunEnded& message) {
  message.set_step(ended.step.value);
  message.set_slot_seconds(ended.slot_time.count());
  message.set_set_up_seconds(ended.set_up_time.count());
  message.set_load_seconds(ended.load_time.count());
  for (const Step step : ended.saves_under_way) message.add_saves_under_way_steps(step.value);
  message.set_refused(ForPeople(ended.refused));
  for (const StageUse& stage : ended.stages) {
    v1::StageUse& use = *message.add_stages();
    use.set_node_id(stage.node.value);
    use.set_process_memory_bytes(stage.process_bytes);
    use.set_device_memory_bytes(stage.device_bytes);
    use.set_look_count(stage.looks);
    use.set_utilization_sum(stage.utilization);
  }
}

RunEnded FromProto(const v1::RunEnded& message) {
  RunEnded ended{.step = Step{message.step()},
                 .slot_time = ToSeconds(message.slot_seconds()),
                 .set_up_time = ToSeconds(message.set_up_seconds()),
                 .load_time = ToSeconds(message.load_seconds()),
                 .saves_under_way = {},
                 .stages = {},
                 .refused = message.refused()};
  for (const std::int64_t step : message.saves_under_way_steps()) ended.saves_under_way.push_back(Step{step});
  for (const v1::StageUse& use : message.stages()) {
    ended.stages.push_back({PlanNodeId{use.node_id()}, use.process_memory_bytes(), use.device_memory_bytes(),
                            use.look_count(), use.utilization_sum()});
  }
  return ended;
}

void Set(const ReportKind& kind, v1::Report& message) {
  std::visit(Overloaded{[&](const MetricsMeasured& is) { Set(is, *message.mutable_metrics_measured()); },
                        [&](const TrainingMetrics& is) { Set(is, *message.mutable_training_metrics()); },
                        [&](const StateStored& is) { Set(is, *message.mutable_state_stored()); },
                        [&](const PromiseLost& is) { Set(is, *message.mutable_promise_lost()); },
                        [&](const StepsTrained& is) { Set(is, *message.mutable_steps_trained()); },
                        [&](const RunFailed& is) { Set(is, *message.mutable_run_failed()); },
                        [&](const EvaluationFailed& is) { Set(is, *message.mutable_evaluation_failed()); },
                        [&](const StartUnusable& is) { Set(is, *message.mutable_start_unusable()); },
                        [&](const StoreFull& is) { message.mutable_store_full()->set_size_bytes(is.bytes); },
                        [&](const RunEnded& is) { Set(is, *message.mutable_run_ended()); }},
             kind);
}

Result<ReportKind> KindOf(const v1::Report& message) {
  switch (message.kind_case()) {
    case v1::Report::kMetricsMeasured:
      return FromProto(message.metrics_measured());
    case v1::Report::kTrainingMetrics:
      return FromProto(message.training_metrics());
    case v1::Report::kStateStored:
      return FromProto(message.state_stored());
    case v1::Report::kPromiseLost:
      return PromiseLost{PromiseId{message.promise_lost().promise_id()}, Step{message.promise_lost().step()},
                         message.promise_lost().why()};
    case v1::Report::kStepsTrained: {
      const v1::StepsTrained& trained = message.steps_trained();
      return StepsTrained{PlanNodeId{trained.plan_node_id()}, Step{trained.from_step()}, Step{trained.to_step()},
                          ToSeconds(trained.seconds())};
    }
    case v1::Report::kRunFailed:
      return FromProto(message.run_failed());
    case v1::Report::kEvaluationFailed:
      return FromProto(message.evaluation_failed());
    case v1::Report::kStartUnusable:
      return FromProto(message.start_unusable());
    case v1::Report::kStoreFull:
      return StoreFull{message.store_full().size_bytes()};
    case v1::Report::kRunEnded:
      return FromProto(message.run_ended());
    case v1::Report::KIND_NOT_SET:
      break;
  }
  return Unknown("kind");
}

constexpr std::pair<RunStatus::State, v1::RunStatus::State> kRunStates[] = {
    {RunStatus::State::kTraining, v1::RunStatus::STATE_TRAINING},
    {RunStatus::State::kSaving, v1::RunStatus::STATE_SAVING},
    {RunStatus::State::kEnded, v1::RunStatus::STATE_ENDED}};

}  // namespace

v1::RunStatus ToProto(const RunStatus& status) {
  v1::RunStatus message;
  Set(status.run, *message.mutable_run());
  message.set_generation(status.generation);
  message.set_step(status.step.value);
  for (const auto& [state, on_the_wire] : kRunStates) {
    if (state == status.state) message.set_state(on_the_wire);
  }
  return message;
}

Result<RunStatus> FromProto(const v1::RunStatus& message) {
  ESPALIER_ASSIGN(const RunKey run, FromProto(message.run()));
  for (const auto& [state, on_the_wire] : kRunStates) {
    if (on_the_wire == message.state()) return RunStatus{run, message.generation(), Step{message.step()}, state};
  }
  return Unknown("state");
}

v1::Report ToProto(const Report& report) {
  v1::Report message;
  message.set_number(report.number);
  Set(report.run, *message.mutable_run());
  Set(report.kind, message);
  return message;
}

Result<Report> FromProto(const v1::Report& message) {
  ESPALIER_ASSIGN(const RunKey run, FromProto(message.run()));
  ESPALIER_ASSIGN(ReportKind kind, KindOf(message));
  return Report{message.number(), run, std::move(kind)};
}

}  // namespace espalier
