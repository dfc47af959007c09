#include "master/store/load_state.h"

#include <future>

#include "master/core/state/cache_keeper.h"
#include "master/core/state/state_edit.h"
#include "master/store/connection.h"
#include "master/store/each_row.h"
#include "master/store/plan_of_nodes.h"
#include "master/store/read_rows.h"
#include "master/store/row_reader.h"
#include "searchplan/plan/invariants.h"
#include "searchplan/sequence/expression.h"

namespace espalier::master {
namespace {

class Loader {
 public:
  Loader(pqxx::transaction_base& transaction, pqxx::transaction_base& beside)
      : transaction_(transaction), beside_(beside) {}

  Result<MasterState> Load() {
    runs_ = std::async(std::launch::async, [this] { return ReadRuns(); });
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
    FindRetired();
    LoadTrials();
    LoadPoints();
    // Claims last: where one waits depends on what is known of its point, and what was trained is counted once for it,
    // not again with each run and range.
    LoadRuns();
    LoadRanges();
    LoadClaims();
    // From here on the plans are only read.
    std::future<Result<void>> checked = std::async(std::launch::async, [this] { return CheckPlans(); });
    LoadEvents();
    LoadRequests();
    LoadRetired();
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

  // Calls `take` with each row of the query `name`, of which few are held at a time.
  template <class Take, class... Values>
  void Each(const char* name, const Take& take, const Values&... values) {
    EachRow(transaction_, name, take, values...);
  }

  SearchPlan& PlanOf(PlanNodeId node) { return state_.plans.at(plan_of_node_.Of(node)); }
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
                  .first_run = row.Id<RunId>("first_run_id"),
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
        const PlanId of_point = plan_of_node_.Of(point.node);  // nodes come by id: it was there before
        node.origin = Origin{of_point, point, state_.plans.at(of_point).Node(point.node).lineage};
      }
      plan_of_node_.Add(node.id, plan);
      Apply(state_, ChangePlan{plan, std::move(node)});
    });
  }

  void FindRetired() {
    Each("retired_study/load",
         [&](const RowReader& row) { retired_.emplace(row.Id<StudyId>("study_id"), RetiredOf(row, plan_of_node_)); });
    in_memory_ = "{0";
    for (const auto& [id, study] : state_.studies) {
      if (!retired_.contains(id)) in_memory_ += "," + std::to_string(id.value);
    }
    in_memory_ += "}";
  }

  void LoadTrials() {
    Each(
        "trial/load", [&](const RowReader& row) { Apply(state_, AddTrial{TrialOf(row)}); }, in_memory_);
  }

  void LoadClaims() {
    const auto add = [&](const RowReader& row) {
      Claim claim = ClaimOf(row);
      const PlanId plan = plan_of_node_.Of(claim.point.node);
      Apply(state_, ChangePlan{plan, AddClaim{std::move(claim)}});
    };
    Each("claim/load", add, in_memory_);
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
      const PlanId plan = plan_of_node_.Of(point.node);
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
    Apply(state_, ChangePlan{plan_of_node_.Of(node),
                             SetAttempts{node, {row.At("from_step"), row.Text("evaluation")}, std::move(attempts)}});
  }

  void LoadRanges() {
    Each("trained_range/load", [&](const RowReader& row) {
      const auto node = row.Id<PlanNodeId>("plan_node_id");
      const TrainedRange range{row.Id<RunId>("run_id"), row.At("from_step"), row.At("to_step"),
                               Seconds{row.Number("seconds")}};
      Apply(state_, ChangePlan{plan_of_node_.Of(node), SetTrainedRange{node, range}});
    });
  }

  void LoadMeasurements() {
    Each("measurement/load", [&](const RowReader& row) {
      const auto node = row.Id<PlanNodeId>("plan_node_id");
      Apply(state_, ChangePlan{plan_of_node_.Of(node),
                               SetMeasurement{node,
                                              row.Parsed("kind", ParseCostKind),
                                              {.count = row.Integer("units"), .total = row.Integer("total")}}});
    });
  }

  // Needs nothing of the state: the plans are read at the same time.
  std::map<RunId, Run> ReadRuns() const {
    RunReader reader;
    EachRow(beside_, "run/load", [&](const RowReader& row) { reader.TakeRun(row); });
    EachRow(beside_, "run_stage/load", [&](const RowReader& row) { reader.TakeStage(row); });
    EachRow(beside_, "run_study/load", [&](const RowReader& row) { reader.TakeStudy(row); });
    EachRow(beside_, "run_promise/load", [&](const RowReader& row) { reader.TakePromise(row); });
    return reader.Take();
  }

  void LoadRuns() {
    std::map<RunId, Run> runs = runs_.get();
    while (!runs.empty()) Apply(state_, AddRun{std::move(runs.extract(runs.begin()).mapped())});
    Each("run/uses_of_retired", [&](const RowReader& row) {
      const Point point{row.Id<PlanNodeId>("plan_node_id"), row.At("step")};
      CacheKeeper(state_).UsedBefore(plan_of_node_.Of(point.node), point, row.Integer("runs"), row.Moment("last"));
    });
  }

  void LoadEvents() {
    const auto add = [&](const RowReader& row) {
      const auto study = row.Id<StudyId>("study_id");
      const std::int64_t number = row.Integer("number");
      if (number != static_cast<std::int64_t>(state_.events[study].size()) + 1) {
        throw std::runtime_error("study " + std::to_string(study.value) + " lacks an event before " +
                                 std::to_string(number));
      }
      AddStudyEvent added{study, number, EventOf(row), row.Moment("happened_at")};
      FillIn(added);
      Apply(state_, added);
    };
    Each("study_event/load", add, in_memory_);
  }

  // What a claim was answered with at its own point is stored there alone.
  void FillIn(AddStudyEvent& added) const {
    auto* settled = std::get_if<ClaimSettled>(&added.event);
    if (settled == nullptr || settled->state != ClaimState::kDone || !settled->metrics.empty()) return;
    const SearchPlan& plan = state_.plans.at(state_.plan_by_claim.at(settled->claim));
    const Claim& claim = plan.claims.at(settled->claim);
    const Metrics* metrics = plan.FindMetrics(claim.point, claim.evaluation);
    if (metrics == nullptr) {
      throw std::runtime_error("claim " + std::to_string(claim.id.value) + " is done and nothing was measured there");
    }
    settled->metrics = *metrics;
    added.answered_at_claim = true;
  }

  void LoadRequests() {
    const auto add = [&](const RowReader& row) {
      Apply(state_, AddRequest{{row.Id<StudyId>("study_id"), row.Text("request_id")}, AnswerOf(row)});
    };
    Each("request/load", add, in_memory_);
  }

  // Once all that is in memory of them is there.
  void LoadRetired() {
    for (const auto& [study, retired] : retired_) Apply(state_, RetireStudy{study, retired});
    Each("database/last_ids", [&](const RowReader& row) {
      IdCounters& next = state_.next;
      next.trial = TrialId{row.Integer("trial") + 1};
      next.claim = ClaimId{row.Integer("claim") + 1};
      next.run = RunId{row.Integer("run") + 1};
      next.promise = PromiseId{row.Integer("promise") + 1};
    });
  }

  pqxx::transaction_base& transaction_;
  pqxx::transaction_base& beside_;
  MasterState state_;
  std::map<Digest128, Schema> schemas_;
  std::map<Digest128, TrainingIdentity> trainings_;
  PlanOfNodes plan_of_node_;
  std::map<StudyId, RetiredStudy> retired_;
  std::string in_memory_;                   // the studies that are not retired, and 0, as an array
  std::future<std::map<RunId, Run>> runs_;  // waited for before anything else is destroyed
};

}  // namespace

Result<MasterState> LoadState(pqxx::transaction_base& transaction, pqxx::transaction_base& beside) {
  return Loader(transaction, beside).Load();
}

}  // namespace espalier::master
