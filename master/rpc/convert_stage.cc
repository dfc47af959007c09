#include "master/rpc/convert.h"

namespace espalier::master {
namespace {

v1::WaitsFor ToProto(WaitsFor what) {
  switch (what) {
    case WaitsFor::kNothing:
      return v1::WAITS_FOR_UNSPECIFIED;
    case WaitsFor::kStage:
      return v1::WAITS_FOR_STAGE;
    case WaitsFor::kSlot:
      return v1::WAITS_FOR_SLOT;
    case WaitsFor::kPause:
      return v1::WAITS_FOR_PAUSE;
    case WaitsFor::kRetry:
      return v1::WAITS_FOR_RETRY;
    case WaitsFor::kCheck:
      return v1::WAITS_FOR_CHECK;
    case WaitsFor::kQuota:
      return v1::WAITS_FOR_QUOTA;
    case WaitsFor::kOffer:
      return v1::WAITS_FOR_OFFER;
  }
  return v1::WAITS_FOR_UNSPECIFIED;
}

void Fill(Point point, v1::StagePoint& message) {
  message.set_plan_node_id(point.node.value);
  message.set_step(point.step.value);
}

void Fill(const Checkpoint& checkpoint, v1::StoredState& message) {
  message.set_file(checkpoint.file);
  message.set_size_bytes(checkpoint.bytes);
  *message.mutable_stored_at() = espalier::ToProto(checkpoint.stored_at);
}

void Fill(const OtherOffer& offer, v1::OtherOffer& message) {
  message.set_server(offer.server);
  for (const OtherOffer::Difference& difference : offer.differences) {
    v1::OfferDifference& added = *message.add_differences();
    added.set_what(difference.what);
    added.set_wanted(difference.wanted);
    added.set_offered(difference.offered);
  }
}

}  // namespace

Point FromProto(const v1::StagePoint& message) { return {PlanNodeId{message.plan_node_id()}, Step{message.step()}}; }

v1::PrintedPiece ToProto(const StoredOutput& output) {
  v1::PrintedPiece message;
  message.set_run_id(output.run.value);
  message.set_server(output.slot.server);
  message.set_slot(output.slot.index);
  message.set_step(output.piece.step.value);
  message.set_position(output.piece.position);
  message.set_text(output.piece.text);
  return message;
}

v1::MetricSeries ToProto(const StoredSeries& series) {
  v1::MetricSeries message;
  message.set_name(series.name);
  for (const Step step : series.steps) message.add_steps(step.value);
  message.mutable_values()->Add(series.values.begin(), series.values.end());
  return message;
}

v1::GetPolicyResponse ToProto(const PolicyChoice& choice) {
  v1::GetPolicyResponse message;
  message.set_policy(choice.name);
  if (!choice.by.empty()) {
    message.set_chosen_by(choice.by);
    *message.mutable_chosen_at() = ToProto(choice.at);
  }
  for (const KnownPolicy& known : KnownPolicies()) {
    v1::KnownPolicy& listed = *message.add_policies();
    listed.set_name(std::string(known.name));
    listed.set_summary(std::string(known.summary));
  }
  return message;
}

v1::ServerDrain ToProto(const Drain& drain) {
  v1::ServerDrain message;
  message.set_user(drain.by);
  message.set_why(drain.why);
  *message.mutable_since() = ToProto(drain.since);
  return message;
}

v1::PlacedStage ToProto(const PlacedStage& placed) {
  v1::PlacedStage message;
  message.set_server(placed.server);
  message.set_slot(placed.slot);
  message.set_run_id(placed.run.value_or(RunId{0}).value);
  message.set_step(placed.at.value);
  message.set_training(placed.training);
  return message;
}

v1::TrainingCosts ToProto(const NodeCosts& costs) {
  v1::TrainingCosts message;
  for (const auto& [kind, cost] : costs) {
    const double seconds = cost / 1e6;
    const auto bytes = static_cast<std::int64_t>(cost);
    switch (kind) {
      case CostKind::kStep:
        message.set_step_seconds(seconds);
        break;
      case CostKind::kSetUp:
        message.set_set_up_seconds(seconds);
        break;
      case CostKind::kLoad:
        message.set_load_seconds(seconds);
        break;
      case CostKind::kSave:
        message.set_save_seconds(seconds);
        break;
      case CostKind::kEvaluate:
        message.set_evaluate_seconds(seconds);
        break;
      case CostKind::kMemory:
        message.set_memory_bytes(bytes);
        break;
      case CostKind::kStateBytes:
        message.set_state_bytes(bytes);
        break;
      case CostKind::kDeviceMemory:
        message.set_device_memory_bytes(bytes);
        break;
      case CostKind::kUtilization:
        message.set_utilization(std::min(cost / 1e3, 1.0));
        break;
    }
  }
  return message;
}

v1::ExplainStageResponse ToProto(const ExplainedStage& explained) {
  v1::ExplainStageResponse message;
  Fill(explained.point, *message.mutable_point());
  message.set_state(std::string(Name(explained.standing)));
  message.set_why(explained.why);
  message.set_waits_for(ToProto(explained.waits_for));
  if (explained.waits_for_stage) Fill(*explained.waits_for_stage, *message.mutable_waits_for_stage());
  if (explained.paused_until) *message.mutable_paused_until() = ToProto(*explained.paused_until);
  if (explained.paths_ahead) message.set_paths_ahead(*explained.paths_ahead);
  for (const OtherOffer& offer : explained.other_offers) Fill(offer, *message.add_other_offers());
  for (const TrialId trial : explained.serves) message.add_serves_trial_ids(trial.value);
  message.set_serves_other_count(explained.serves_others);
  message.set_serves_more(explained.serves_more);
  if (explained.placed_on) *message.mutable_placed_on() = ToProto(*explained.placed_on);
  if (explained.checkpoint) Fill(*explained.checkpoint, *message.mutable_checkpoint());
  for (const std::string& warning : explained.warnings) message.add_warnings(warning);
  *message.mutable_costs() = ToProto(explained.costs);
  return message;
}

v1::ListedCheckpoint ToProto(const ListedCheckpoint& listed) {
  v1::ListedCheckpoint message;
  Fill(listed.point, *message.mutable_point());
  Fill(listed.checkpoint, *message.mutable_state());
  return message;
}

v1::ListedRun ToProto(const Run& run, StudyId study) {
  const Point from = BeginningOf(run);
  v1::ListedRun message;
  message.set_run_id(run.id.value);
  message.set_server(run.slot.server);
  message.set_slot(run.slot.index);
  message.set_slot_count(run.slots);
  message.set_state(std::string(Name(run.state)));
  Fill(from, *message.mutable_from());
  Fill(run.path.empty() ? from : Point{run.path.back().node, run.path.back().to}, *message.mutable_to());
  *message.mutable_held_from() = ToProto(run.ordered_at);
  if (!run.training()) *message.mutable_held_until() = ToProto(run.charged_to);
  const auto charged = run.charges.find(study);
  if (charged != run.charges.end()) message.set_device_seconds(static_cast<double>(charged->second) * 1e-6);
  return message;
}

}  // namespace espalier::master
