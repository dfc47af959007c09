#include "master/store/load_state.h"

#include <future>
#include <unordered_map>

#include "master/core/state/state_edit.h"
#include "master/store/connection.h"
#include "master/store/row_reader.h"
#include "searchplan/plan/invariants.h"
#include "searchplan/sequence/expression.h"

namespace espalier::master {
namespace {

// A map that was stored as two arrays.
template <class Value>
std::map<std::string, Value> Zip(std::vector<std::string> names, std::vector<Value> values) {
  if (names.size() != values.size()) throw std::runtime_error("names and values are not equally many");
  std::map<std::string, Value> map;
  for (std::size_t i = 0; i < names.size(); ++i) map.emplace(std::move(names[i]), std::move(values[i]));
  return map;
}

class Loader {
 public:
  explicit Loader(pqxx::transaction_base& transaction) : transaction_(transaction) {}

  Result<MasterState> Load() {
    state_.leadership = LeadershipId{Query(transaction_, "leadership/id").front()["id"].as<std::int64_t>()};
    LoadUsers();
    LoadDrains();
    LoadPolicy();
    LoadTeams();
    LoadQuotas();
    LoadUserCode();
    LoadSchemas();
    LoadOffers();
    LoadTrainerChecks();
    LoadStudies();
    LoadPlans();
    LoadMeasurements();
    LoadTrials();
    LoadClaims();
    LoadPoints();
    LoadRanges();
    LoadRuns();
    // From here on the plans are only read.
    std::future<Result<void>> checked = std::async(std::launch::async, [this] { return CheckPlans(); });
    LoadEvents();
    LoadRequests();
    ESPALIER_RETURN_IF_ERROR(checked.get());
    return std::move(state_);
  }

 private:
  // Error: kInternal.
  Result<void> CheckPlans() const {
    for (const auto& [id, plan] : state_.plans) {
      const std::vector<std::string> broken = CheckInvariants(plan);
      if (!broken.empty()) {
        return MakeError(ErrorCode::kInternal,
                         "stored plan " + std::to_string(id.value) + " is broken: " + broken.front());
      }
    }
    return {};
  }

  // Calls `take` with each row of the query `name`.
  template <class Take>
  void Each(const char* name, const Take& take) {
    const pqxx::result rows = Query(transaction_, name);
    Columns columns;
    for (const pqxx::row& row : rows) take(RowReader(row, columns));
  }

  SearchPlan& PlanOf(PlanNodeId node) { return state_.plans.at(plan_of_node_.at(node)); }
  // What is known under the node of the row's point.
  NodeResults& ResultsOf(const RowReader& row) {
    const auto node = row.Id<PlanNodeId>("plan_node_id");
    return PlanOf(node).nodes.at(node).results.Mutable();
  }

  void LoadUsers() {
    Each("service_user/load", [&](const RowReader& row) {
      User user{.name = row.Text("name"),
                .team = row.Text("team"),
                .role = row.Parsed("role", ParseRole),
                .token_sha256 = {},
                .servers = row.Texts("servers")};
      if (!row.IsNull("token_sha256")) user.token_sha256 = row.Text("token_sha256");
      Apply(state_, SetUser{std::move(user)});
    });
  }

  void LoadDrains() {
    Each("server_drain/load", [&](const RowReader& row) {
      Drain drain{.by = row.Text("drained_by"), .why = row.Text("why"), .since = row.Moment("since")};
      Apply(state_, SetDrain{row.Text("server"), std::move(drain)});
    });
  }

  void LoadPolicy() {
    Each("scheduling_policy/load", [&](const RowReader& row) {
      Apply(state_, SetPolicy{{.name = row.Parsed("name", ParsePolicyName),
                               .by = row.Text("chosen_by"),
                               .at = row.Moment("chosen_at")}});
    });
  }

  void LoadTeams() {
    Each("team/load", [&](const RowReader& row) {
      Apply(state_, SetWeight{.team = row.Text("name"), .weight = row.Number("weight")});
    });
  }

  void LoadQuotas() {
    Each("quota/load", [&](const RowReader& row) {
      const auto limit = [&](const char* column) {
        return row.IsNull(column) ? std::nullopt : std::optional(row.Integer(column));
      };
      Apply(state_, SetQuota{{row.Parsed("of_whom", ParsePartyKind), row.Text("name")},
                             {.open_trials = limit("open_trials"),
                              .plan_nodes = limit("plan_nodes"),
                              .stored_bytes = limit("stored_bytes"),
                              .device_time = row.OptionalDuration("device_time")}});
    });
  }

  void LoadUserCode() {
    Each("archive/load", [&](const RowReader& row) {
      Apply(state_,
            AddArchive{row.Text("sha256"),
                       {.bytes = row.Bytes("body"), .user = row.Text("user_name"), .put_at = row.Moment("put_at")}});
    });
    Each("trainer_reference/load", [&](const RowReader& row) {
      TrainerReference reference{
          .entry = row.Text("entry"),
          .archive = row.Text("archive"),
          .python = row.Text("python"),
          .client = {.path = row.Text("client_python"), .machine = row.Text("machine"), .uid = row.Integer("uid")},
          .folder = row.Text("folder"),
          .data = row.Texts("data"),
          .data_seen = row.Text("data_seen"),
          .environment = {},
          .user = row.Text("user_name"),
          .team = row.Text("team")};
      for (const std::string& variable : row.Texts("environment")) {
        const std::size_t equals = variable.find('=');
        reference.environment[variable.substr(0, equals)] = variable.substr(equals + 1);
      }
      Apply(state_, AddReference{std::move(reference)});
    });
  }

  void LoadSchemas() {
    Each("trainer_schema/load",
         [&](const RowReader& row) { schemas_[row.Digest("digest")].takes_any = row.Flag("takes_any"); });
    Each("hyper_parameter/load", [&](const RowReader& row) {
      const auto type = row.Parsed("type", ParseValueType);
      const Expression written = row.Parsed("default_value", ParseExpression);
      const Value* value = std::get_if<Value>(&written.form);
      if (value == nullptr) throw std::runtime_error("default_value is no value");
      const Result<Value> converted = Convert(*value, type);
      if (!converted) throw std::runtime_error("default_value: " + converted.error().message);
      schemas_[row.Digest("schema")].hyper_parameters.push_back(
          {.name = row.Text("name"), .type = type, .default_value = *converted, .initial = row.Flag("initial")});
    });
    Each("training_identity/load", [&](const RowReader& row) {
      trainings_[row.Digest("digest")] = {.trainer = row.Text("trainer"),
                                          .code_digest = row.Text("code_digest"),
                                          .data = row.Text("data"),
                                          .data_digest = row.Text("data_digest"),
                                          .step = {row.Integer("step_updates")},
                                          .schema = schemas_[row.Digest("schema")]};
    });
  }

  void LoadOffers() {
    Each("offer/load", [&](const RowReader& row) {
      Apply(state_, AddOffer{{{.trainer = row.Text("trainer"),
                               .code_digest = row.Text("code_digest"),
                               .data = row.Text("data"),
                               .data_digest = row.Text("data_digest"),
                               .evaluation_digest = row.Text("evaluation_digest"),
                               .schema = schemas_[row.Digest("schema")],
                               .metrics = row.Texts("metrics")},
                              row.Moment("first_seen"),
                              row.Flag("listed")}});
    });
  }

  void LoadTrainerChecks() {
    Each("trainer_check/load", [&](const RowReader& row) {
      Apply(state_, AddCheckFinding{{row.Digest("trainer"), row.Text("device_kind")},
                                    {row.Parsed("outcome", ParseCheckOutcome), row.Text("message")},
                                    row.Moment("found_at")});
    });
  }

  void LoadStudies() {
    std::map<StudyId, ValueTypes> undeclared;
    Each("study_hyper_parameter/load", [&](const RowReader& row) {
      undeclared[row.Id<StudyId>("study_id")][row.Text("name")] = row.Parsed("type", ParseValueType);
    });
    std::map<StudyId, std::map<std::int64_t, double>> speeds;
    Each("study_speed/load", [&](const RowReader& row) {
      speeds[row.Id<StudyId>("study_id")][row.Integer("slots")] = row.Number("speed");
    });
    Each("study/load", [&](const RowReader& row) {
      Study study{.id = row.Id<StudyId>("id"),
                  .user = row.Text("user_name"),
                  .team = row.Text("team"),
                  .specification = {.name = row.Text("name"),
                                    .trainer = row.Text("trainer"),
                                    .data = row.Text("data"),
                                    .step = {row.Integer("step_updates")},
                                    .evaluate_every = row.Integer("evaluate_every"),
                                    .hang_after = row.OptionalDuration("hang_after"),
                                    .stop = {.after = row.OptionalDuration("stop_after"),
                                             .device_time = row.OptionalDuration("stop_device_time"),
                                             .metric = row.OptionalNumber("stop_metric")},
                                    .metric = row.Text("metric"),
                                    .goal = row.Parsed("goal", ParseGoal),
                                    .scope = row.Parsed("scope", ParseScope),
                                    .keep = row.Parsed("keep", ParseKeep),
                                    .check = row.Parsed("check_when", ParseCheckWhen),
                                    .definition = row.Text("definition"),
                                    .undeclared = undeclared[row.Id<StudyId>("id")],
                                    .tuner = row.Text("tuner"),
                                    .asks_for_idle_slots = row.Flag("asks_for_idle_slots"),
                                    .policy = {.may_stop = row.Flag("may_stop"),
                                               .deadline = row.OptionalDuration("deadline"),
                                               .min_steps = row.Integer("min_steps"),
                                               .speeds = speeds[row.Id<StudyId>("id")]},
                                    .priority = row.Number("priority")},
                  .training = trainings_.at(row.Digest("training")),
                  .device_kind = row.Text("device_kind"),
                  .evaluation = row.Text("evaluation"),
                  .metric_names = row.Texts("metric_names"),
                  .created_at = row.Moment("created_at"),
                  .finished_at = std::nullopt,
                  .closing = row.Flag("closing"),
                  .cancelled = row.Flag("cancelled"),
                  .stopped = row.Text("stopped"),
                  .keep = row.Parsed("keep_now", ParseKeep),
                  .weight = row.Number("weight")};
      if (!row.IsNull("reuse_study_id")) {
        study.specification.reuse = Reuse{.study = row.Id<StudyId>("reuse_study_id")};
        if (!row.IsNull("reuse_until")) study.specification.reuse->until = row.At("reuse_until");
      }
      if (!row.IsNull("reference")) study.specification.reference = row.Digest("reference");
      Apply(state_, AddStudy{study});
      if (const auto finished_at = row.OptionalMoment("finished_at"))
        Apply(state_, FinishStudy{study.id, *finished_at});
    });
  }

  void LoadPlans() {
    Each("search_plan/load", [&](const RowReader& row) {
      Apply(state_, AddPlan{row.Id<PlanId>("id"),
                            {trainings_.at(row.Digest("training")),
                             row.Text("device_kind"),
                             {.scope = row.Parsed("scope", ParseScope),
                              .team = row.Text("team"),
                              .study = row.Id<StudyId>("study_id"),
                              .trial = row.Id<TrialId>("trial_id")}}});
    });
    Each("plan_node/load", [&](const RowReader& row) {
      const auto plan = row.Id<PlanId>("plan_id");
      AddPlanNode node{.id = row.Id<PlanNodeId>("id"),
                       .parent = {},
                       .start = row.At("start_step"),
                       .configuration = {},
                       .caused_by = row.Id<StudyId>("study_id")};
      if (!row.IsNull("parent_id")) node.parent = row.Id<PlanNodeId>("parent_id");
      Result<PackedConfiguration> configuration = PackedConfiguration::Parse(row.Bytes("body"));
      if (!configuration) throw std::runtime_error("configuration: " + configuration.error().message);
      node.configuration = *std::move(configuration);
      if (!row.IsNull("origin_node_id")) {
        const Point point{row.Id<PlanNodeId>("origin_node_id"), row.At("origin_step")};
        const PlanId of_point = plan_of_node_.at(point.node);  // nodes come by id: it was there before
        node.origin = Origin{of_point, point, state_.plans.at(of_point).Node(point.node).lineage};
      }
      plan_of_node_[node.id] = plan;
      Apply(state_, ChangePlan{plan, std::move(node)});
    });
  }

  static std::optional<TrialLabel> LabelOf(const RowReader& row) {
    if (row.IsNull("label")) return std::nullopt;
    return TrialLabel{.policy = row.Text("label_policy"), .text = row.Text("label")};
  }

  void LoadTrials() {
    Each("trial/load", [&](const RowReader& row) {
      Apply(state_, AddTrial{{.id = row.Id<TrialId>("id"),
                              .study = row.Id<StudyId>("study_id"),
                              .plan = row.Id<PlanId>("plan_id"),
                              .leaf = row.Id<PlanNodeId>("leaf_id"),
                              .horizon = row.At("horizon_steps"),
                              .sequences = Zip(row.Texts("sequence_names"), row.Texts("sequence_expressions")),
                              .claims = {},
                              .closed = row.Flag("closed"),
                              .cancelled = row.Flag("cancelled"),
                              .label = LabelOf(row)}});
    });
  }

  void LoadClaims() {
    Each("claim/load", [&](const RowReader& row) {
      const auto node = row.Id<PlanNodeId>("plan_node_id");
      Apply(state_, ChangePlan{plan_of_node_.at(node), AddClaim{{.id = row.Id<ClaimId>("id"),
                                                                 .trial = row.Id<TrialId>("trial_id"),
                                                                 .point = {node, row.At("step")},
                                                                 .evaluation = row.Text("evaluation"),
                                                                 .state = row.Parsed("state", ParseClaimState)}}});
    });
  }

  void LoadPoints() {
    Each("point/load", [&](const RowReader& row) {
      const Step step = row.At("step");
      if (!row.IsNull("state_sha256")) {
        ResultsOf(row).state_digests[step] = {row.Text("state_sha256"), row.Flag("disputed")};
      }
      if (row.IsNull("failure_kind")) return;
      ResultsOf(row).failures[step] = {row.Parsed("failure_kind", ParseFailureKind), row.Text("failure_message")};
    });
    Each("checkpoint/load", [&](const RowReader& row) {
      const Point point{row.Id<PlanNodeId>("plan_node_id"), row.At("step")};
      const PlanId plan = plan_of_node_.at(point.node);
      Apply(state_, ChangePlan{plan, SetCheckpoint{point,
                                                   {row.Text("file"), row.Integer("size_bytes"),
                                                    row.Id<RunId>("run_id"), row.Moment("stored_at")},
                                                   *state_.plans.at(plan).FindStateDigest(point)}});
    });
    Each("metric/load", [&](const RowReader& row) {
      Metrics& metrics = ResultsOf(row).metrics[row.At("step")][row.Text("evaluation")];
      metrics = Zip(row.Texts("names"), row.Numbers("measured"));
    });
    Each("evaluation_failure/load", [&](const RowReader& row) {
      ResultsOf(row).evaluation_failures[row.At("step")][row.Text("evaluation")] = row.Text("message");
    });
    Each("attempt/load", [&](const RowReader& row) { LoadAttempt(row); });
  }

  void LoadAttempt(const RowReader& row) {
    const auto texts = [&](const char* column) {
      const std::vector<std::string> list = row.Texts(column);
      return std::set<std::string>(list.begin(), list.end());
    };
    Attempts attempts{.crashes = row.Integer("crashes"),
                      .kills = row.Integer("kills"),
                      .unusable = row.Integer("unusable"),
                      .lost_servers = texts("lost_servers"),
                      .earliest = row.At("earliest_step"),
                      .servers = texts("servers"),
                      .begun_at = {row.Id<PlanNodeId>("begun_node_id"), row.At("begun_step")},
                      .not_before = row.OptionalMoment("not_before").value_or(Time{}),
                      .log = row.Text("log"),
                      .demand = {static_cast<int>(row.Integer("demand_compute")), row.Integer("demand_bytes")}};
    if (row.Flag("held")) attempts.not_before = Time::max();
    const auto node = row.Id<PlanNodeId>("plan_node_id");
    Apply(state_, ChangePlan{plan_of_node_.at(node),
                             SetAttempts{node, {row.At("from_step"), row.Text("evaluation")}, std::move(attempts)}});
  }

  void LoadRanges() {
    Each("trained_range/load", [&](const RowReader& row) {
      const auto node = row.Id<PlanNodeId>("plan_node_id");
      const TrainedRange range{row.Id<RunId>("run_id"), row.At("from_step"), row.At("to_step"),
                               Seconds{row.Number("seconds")}};
      Apply(state_, ChangePlan{plan_of_node_.at(node), SetTrainedRange{node, range}});
    });
  }

  void LoadMeasurements() {
    Each("measurement/load", [&](const RowReader& row) {
      const auto node = row.Id<PlanNodeId>("plan_node_id");
      Apply(state_, ChangePlan{plan_of_node_.at(node),
                               SetMeasurement{node,
                                              row.Parsed("kind", ParseCostKind),
                                              {.count = row.Integer("units"), .total = row.Integer("total")}}});
    });
  }

  void LoadRuns() {
    std::map<RunId, Run> runs;
    Each("run/load", [&](const RowReader& row) {
      const auto id = row.Id<RunId>("id");
      Run& run = runs[id];
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
      run.evaluation = state_.offers.at(run.offer).offer.evaluation_digest;
      run.generation = row.Integer("generation");
      run.preempt = row.Flag("preempt");
      run.failed = row.Flag("failed");
      run.state = StateOf(row.Text("state"));
      run.ordered_at = row.Moment("ordered_at");
      run.charged_to = row.Moment("charged_to");
      if (row.IsNull("start_step")) return;
      run.start = Point{row.Id<PlanNodeId>("start_plan_node_id"), row.At("start_step")};
      run.start_file = row.Text("start_file");
    });
    Each("run_stage/load", [&](const RowReader& row) {
      runs.at(row.Id<RunId>("run_id"))
          .path.push_back({row.Id<PlanNodeId>("plan_node_id"), row.At("from_step"), row.At("to_step")});
    });
    Each("run_study/load", [&](const RowReader& row) {
      Run& run = runs.at(row.Id<RunId>("run_id"));
      const auto study = row.Id<StudyId>("study_id");
      run.charges[study] = row.Integer("microseconds");
      if (row.Flag("serves")) run.serves.push_back(study);
    });
    Each("run_promise/load", [&](const RowReader& row) {
      const auto id = row.Id<PromiseId>("id");
      runs.at(row.Id<RunId>("run_id")).promises[id] = {.id = id,
                                                       .step = row.At("step"),
                                                       .owed = row.Parsed("owed", ParseOwed),
                                                       .state = row.Parsed("state", ParsePromiseState),
                                                       .made_at = row.Moment("made_at"),
                                                       .settled_at = row.OptionalMoment("settled_at")};
    });
    for (auto& [id, run] : runs) {
      if (auto* training = std::get_if<Training>(&run.state)) training->at = BeginningOf(run).step;
      Apply(state_, AddRun{std::move(run)});
    }
  }

  static RunState StateOf(const std::string& name) {
    if (name == "training") return Training{};
    if (name == "saving") return Saving{};
    if (name == "ended") return Ended{};
    throw std::runtime_error("'" + name + "' is no state of a run");
  }

  void LoadEvents() {
    Each("study_event/load", [&](const RowReader& row) {
      const auto study = row.Id<StudyId>("study_id");
      const std::int64_t number = row.Integer("number");
      if (number != static_cast<std::int64_t>(state_.events[study].size()) + 1) {
        throw std::runtime_error("study " + std::to_string(study.value) + " lacks an event before " +
                                 std::to_string(number));
      }
      Apply(state_, AddStudyEvent{study, number, EventOf(row), row.Moment("happened_at")});
    });
  }

  static StudyEvent EventOf(const RowReader& row) {
    const std::string kind = row.Text("kind");
    if (kind == "trial submitted") return TrialSubmitted{row.Id<TrialId>("trial_id")};
    if (kind == "claim made") {
      return ClaimMade{row.Id<ClaimId>("claim_id"), row.Id<TrialId>("trial_id"), row.At("step")};
    }
    if (kind == "claim settled") {
      return ClaimSettled{.claim = row.Id<ClaimId>("claim_id"),
                          .trial = row.Id<TrialId>("trial_id"),
                          .step = row.At("step"),
                          .state = row.Parsed("claim_state", ParseClaimState),
                          .metrics = Zip(row.Texts("metric_names"), row.Numbers("metric_values")),
                          .message = row.Text("message")};
    }
    if (kind == "trial closed") return TrialClosed{row.Id<TrialId>("trial_id"), row.Flag("cancelled")};
    if (kind == "batch taken") return BatchTaken{row.Integer("batch_number")};
    if (kind == "slot idle") return SlotIdle{};
    if (kind == "study finished") return StudyFinished{};
    throw std::runtime_error("'" + kind + "' is no kind of event");
  }

  void LoadRequests() {
    Each("request/load", [&](const RowReader& row) {
      AnsweredRequest answer{.content = row.Digest("content"), .ids = {}};
      for (const std::string& id : row.Texts("produced_ids")) answer.ids.push_back(std::stoll(id));
      Apply(state_, AddRequest{{row.Id<StudyId>("study_id"), row.Text("request_id")}, std::move(answer)});
    });
  }

  pqxx::transaction_base& transaction_;
  MasterState state_;
  std::map<Digest128, Schema> schemas_;
  std::map<Digest128, TrainingIdentity> trainings_;
  std::unordered_map<PlanNodeId, PlanId> plan_of_node_;
};

}  // namespace

Result<MasterState> LoadState(pqxx::transaction_base& transaction) { return Loader(transaction).Load(); }

}  // namespace espalier::master
