#include "master/store/read_rows.h"

#include <algorithm>

namespace espalier::master {
namespace {

WideCount WideOf(const std::string& text) {
  const bool is_negative = text.starts_with('-');
  WideCount count = 0;
  for (const char digit : text.substr(is_negative ? 1 : 0)) {
    if (digit < '0' || digit > '9') throw std::runtime_error("'" + text + "' is no count");
    count = count * 10 + (digit - '0');
  }
  return is_negative ? -count : count;
}

std::optional<TrialLabel> LabelOf(const RowReader& row) {
  if (row.IsNull("label")) return std::nullopt;
  return TrialLabel{.policy = row.Text("label_policy"), .text = row.Text("label")};
}

RunState StateOf(const std::string& name) {
  if (name == "training") return Training{};
  if (name == "saving") return Saving{};
  if (name == "ended") return Ended{};
  throw std::runtime_error("'" + name + "' is no state of a run");
}

}  // namespace

Trial TrialOf(const RowReader& row) {
  return {.id = row.Id<TrialId>("id"),
          .study = row.Id<StudyId>("study_id"),
          .plan = row.Id<PlanId>("plan_id"),
          .leaf = row.Id<PlanNodeId>("leaf_id"),
          .horizon = row.At("horizon_steps"),
          .sequences = Zip(row.Texts("sequence_names"), row.Texts("sequence_expressions")),
          .claims = {},
          .closed = row.Flag("closed"),
          .cancelled = row.Flag("cancelled"),
          .label = LabelOf(row)};
}

Claim ClaimOf(const RowReader& row) {
  return {.id = row.Id<ClaimId>("id"),
          .trial = row.Id<TrialId>("trial_id"),
          .point = {row.Id<PlanNodeId>("plan_node_id"), row.At("step")},
          .evaluation = row.Text("evaluation"),
          .state = row.Parsed("state", ParseClaimState)};
}

StudyEvent EventOf(const RowReader& row) {
  const std::string kind = row.Text("kind");
  if (kind == "trial submitted") return TrialSubmitted{row.Id<TrialId>("trial_id")};
  if (kind == "claim made") {
    return ClaimMade{row.Id<ClaimId>("claim_id"), row.Id<TrialId>("trial_id"), row.At("step")};
  }
  if (kind == "claim settled") {
    ClaimSettled settled{.claim = row.Id<ClaimId>("claim_id"),
                         .trial = row.Id<TrialId>("trial_id"),
                         .step = row.At("step"),
                         .state = row.Parsed("claim_state", ParseClaimState),
                         .metrics = {},
                         .message = row.Text("message")};
    if (!row.IsNull("metric_names")) settled.metrics = Zip(row.Texts("metric_names"), row.Numbers("metric_values"));
    return settled;
  }
  if (kind == "trial closed") return TrialClosed{row.Id<TrialId>("trial_id"), row.Flag("cancelled")};
  if (kind == "batch taken") return BatchTaken{row.Integer("batch_number")};
  if (kind == "slot idle") return SlotIdle{};
  if (kind == "study finished") return StudyFinished{};
  throw std::runtime_error("'" + kind + "' is no kind of event");
}

AnsweredRequest AnswerOf(const RowReader& row) {
  AnsweredRequest answer{.content = row.Digest("content"), .ids = {}, .at = row.Moment("answered_at")};
  for (const std::string& id : row.Texts("produced_ids")) answer.ids.push_back(std::stoll(id));
  return answer;
}

RetiredStudy RetiredOf(const RowReader& row, const PlanOfNodes& plan_of_node) {
  RetiredStudy retired{.at = row.Moment("retired_at"),
                       .trials = {row.Integer("waiting"), row.Integer("idle"), row.Integer("done"),
                                  row.Integer("failed"), row.Integer("cancelled")},
                       .claimed_steps = row.Integer("claimed_steps"),
                       .best = std::nullopt,
                       .steps = {.unique = row.Integer("unique_steps"),
                                 .trained = row.Integer("trained_steps"),
                                 .re_derived = row.Integer("re_derived_steps"),
                                 .wasted = row.Integer("wasted_steps"),
                                 .reused = row.Integer("reused_steps"),
                                 .wanted = row.Integer("wanted_steps"),
                                 .wanted_once = row.Integer("wanted_once_steps"),
                                 .wanted_trained = row.Integer("wanted_trained_steps"),
                                 .claimed_time = WideOf(row.Text("claimed_time")),
                                 .unique_time = WideOf(row.Text("unique_time"))},
                       .device_time = row.Integer("device_time"),
                       .shared_time = row.Integer("shared_time"),
                       .kept = {}};
  if (!row.IsNull("best_trial_id")) {
    retired.best = BestTrial{row.Id<TrialId>("best_trial_id"), row.Number("best"), row.At("best_step")};
  }
  const std::vector<std::string> nodes = row.Texts("kept_node_ids");
  const std::vector<std::string> steps = row.Texts("kept_steps");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Point point{PlanNodeId{std::stoll(nodes[i])}, Step{std::stoll(steps.at(i))}};
    retired.kept.push_back({plan_of_node.Of(point.node), point});
  }
  return retired;
}

void RunReader::TakeRun(const RowReader& row) {
  const auto id = row.Id<RunId>("id");
  Run& run = runs_[id];
  run.id = id;
  run.leadership = row.Id<LeadershipId>("leadership");
  run.plan = row.Id<PlanId>("plan_id");
  run.slot = {row.Text("server"), static_cast<int>(row.Integer("slot"))};
  run.slots = static_cast<int>(row.Integer("slot_count"));
  run.reservation = {.device = static_cast<int>(row.Integer("device")),
                     .compute = static_cast<int>(row.Integer("compute")),
                     .memory_bytes = row.Integer("memory_bytes"),
                     .host_cores = static_cast<int>(row.Integer("host_cores"))};
  run.incarnation = row.Text("incarnation");
  run.offer = row.Digest("offer");
  run.evaluation = row.Text("evaluation");
  run.generation = row.Integer("generation");
  run.preempt = row.Flag("preempt");
  run.failed = row.Flag("failed");
  run.state = StateOf(row.Text("state"));
  run.ordered_at = row.Moment("ordered_at");
  run.charged_to = row.Moment("charged_to");
  if (row.IsNull("start_step")) return;
  run.start = Point{row.Id<PlanNodeId>("start_plan_node_id"), row.At("start_step")};
  run.start_file = row.Text("start_file");
}

void RunReader::TakeStage(const RowReader& row) {
  Run& run = runs_.at(row.Id<RunId>("run_id"));
  run.path.push_back({row.Id<PlanNodeId>("plan_node_id"), row.At("from_step"), row.At("to_step")});
  if (auto* training = std::get_if<Training>(&run.state)) training->at = BeginningOf(run).step;
}

void RunReader::TakeStudy(const RowReader& row) {
  Run& run = runs_.at(row.Id<RunId>("run_id"));
  const auto study = row.Id<StudyId>("study_id");
  run.charges[study] = row.Integer("microseconds");
  if (row.Flag("serves")) run.serves.push_back(study);
}

void RunReader::TakePromise(const RowReader& row) {
  const auto id = row.Id<PromiseId>("id");
  runs_.at(row.Id<RunId>("run_id")).promises[id] = {.id = id,
                                                    .step = row.At("step"),
                                                    .owed = row.Parsed("owed", ParseOwed),
                                                    .state = row.Parsed("state", ParsePromiseState),
                                                    .made_at = row.Moment("made_at"),
                                                    .settled_at = row.OptionalMoment("settled_at")};
}

}  // namespace espalier::master
