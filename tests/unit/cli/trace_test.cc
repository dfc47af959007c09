// Traces of studies: what is written reads back, mistakes are named, and what a replay makes of them.
#include "client/simulation/trace.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/cli/simulation_results.h"
#include "client/simulation/replay.h"

namespace espalier::testing {
namespace {

// A study of two trials that share node 1 up to step 10, on the first of two slots.
TracedStudy TwoTrials() {
  const auto trial = [](std::int64_t id, std::int64_t node, const std::string& gamma) {
    return TracedTrial{.id = id,
                       .sequences = {{"lr", "MultiStep(0.1, [10], gamma=" + gamma + ")"}},
                       .horizon = Step{20},
                       .submitted = Seconds(0.5),
                       .closed = Seconds(12.5),
                       .lineage = {{1, Step{10}}, {node, Step{20}}},
                       .claims = {{Step{10}, Seconds(0.5), Seconds(11), ClaimState::kDone},
                                  {Step{20}, Seconds(12), Seconds(40), ClaimState::kDone}},
                       .metrics = {{Step{10}, {{"acc", 0.5}}}, {Step{20}, {{"acc", 0.1 * static_cast<double>(node)}}}}};
  };
  const auto node = [](std::int64_t id, double step) {
    return TracedNode{id,
                      true,
                      {{CostKind::kStep, Seconds(step)},
                       {CostKind::kSetUp, Seconds(0.25)},
                       {CostKind::kLoad, Seconds(0.125)},
                       {CostKind::kEvaluate, Seconds(0)}}};
  };
  return {.id = 7,
          .name = "two \"quoted\"",
          .definition = "{\"data\":\"digits\",\"step\":\"200 updates\"}",
          .trainer = "mlp",
          .metric = "acc",
          .arrived = Seconds(0.25),
          .ended = Seconds(40),
          .device_time = Seconds(39),
          .claimed_steps = 40,
          .unique_steps = 30,
          .trained_steps = 30,
          .nodes = {node(1, 1), node(2, 1), node(3, 2)},
          .trials = {trial(1, 2, "0.1"), trial(2, 3, "0.5")},
          .runs = {{.id = 1,
                    .server = "here",
                    .slot = 0,
                    .from = {1, Step{0}},
                    .to = {2, Step{20}},
                    .held_from = Seconds(0.5),
                    .held_until = Seconds(21),
                    .charged = Seconds(20.5)}}};
}

std::string Written(const TracedStudy& study) {
  std::ostringstream out;
  WriteTrace(out, TraceHead{"2026-11-26T17:25:03Z", "critical_path"});
  WriteTrace(out, TracedServer{"here", 2, Seconds(41.5)});
  WriteTrace(out, study);
  return out.str();
}

Trace ReadBack(const std::string& text) {
  const auto trace = ParseTrace("a.trace", text);
  INFO((trace.has_value() ? "" : Print(trace.error())));
  REQUIRE(trace.has_value());
  return *trace;
}

std::string WhyNot(const std::string& text) {
  const auto trace = ParseTrace("a.trace", text);
  REQUIRE_FALSE(trace.has_value());
  return Print(trace.error());
}

std::string Edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

sim::SimulatedStudies Simulated(const Trace& trace) {
  const Result<Replay> replay = ReplayOf(trace);
  INFO((replay.has_value() ? "" : replay.error().message));
  REQUIRE(replay.has_value());
  sim::ServiceToSimulate service{.servers = replay->servers, .durations = replay->durations};
  service.measures.recorded = &replay->recorded;
  const auto simulated = sim::SimulateStudies(service, replay->studies);
  INFO((simulated.has_value() ? "" : simulated.error().message));
  REQUIRE(simulated.has_value());
  return *simulated;
}

}  // namespace

TEST_CASE("a trace reads back as it was written, and what is no number as no number") {
  TracedStudy study = TwoTrials();
  study.trials[0].metrics[Step{15}]["acc"] = std::numeric_limits<double>::quiet_NaN();
  const std::string text = Written(study);
  const Trace trace = ReadBack(text);
  std::ostringstream again;
  WriteTrace(again, trace.head);
  for (const TracedServer& server : trace.servers) WriteTrace(again, server);
  for (const TracedStudy& each : trace.studies) WriteTrace(again, each);
  CHECK(again.str() == text);
  CHECK(std::isnan(trace.studies.at(0).trials.at(0).metrics.at(Step{15}).at("acc")));
  CHECK(trace.studies[0].name == study.name);
  CHECK(trace.studies[0].definition == study.definition);
}

TEST_CASE("a mistake in a trace is named with its line and field") {
  const std::string text = Written(TwoTrials());
  CHECK_THAT(WhyNot(""), Catch::StartsWith("a.trace:1: it is empty"));
  CHECK_THAT(WhyNot("no trace\n"), Catch::StartsWith("a.trace:1: "));
  CHECK_THAT(WhyNot(text.substr(text.find('\n') + 1)), Catch::StartsWith("a.trace:1: server: the first line"));
  CHECK_THAT(WhyNot(text + text), Catch::Contains("trace: the first line, and it alone"));
  CHECK_THAT(WhyNot(Edited(text, "\"trace\":1", "\"trace\":2")), Catch::StartsWith("a.trace:1: trace: got version 2"));
  CHECK_THAT(WhyNot(Edited(text, "\"slots\":2", "\"slots\":0")), Catch::StartsWith("a.trace:2: slots: got 0"));
  CHECK_THAT(WhyNot(Edited(text, "\"goal\":\"max\"", "\"goal\":\"most\"")), Catch::StartsWith("a.trace:3: goal: "));
  CHECK_THAT(WhyNot(Edited(text, "\"arrived\":0.25", "\"arrived\":50")), Catch::StartsWith("a.trace:3: ended: "));
  CHECK_THAT(WhyNot(Edited(text, "\"share\"", "\"shard\"")), Catch::Contains("did you mean share"));
  CHECK_THAT(WhyNot(Edited(text, "{\"node\":3", "{\"node\":4")), Catch::Contains("trial 2 passes node 3"));
  CHECK_THAT(WhyNot(Edited(text, "\"step\":20}],\"claims\"", "\"step\":19}],\"claims\"")),
             Catch::StartsWith("a.trace:7: lineage: it does not end at the horizon"));
  CHECK_THAT(WhyNot(Edited(text, "\"held_from\":0.5", "\"held_from\":-1")), Catch::Contains("held_from: got -1"));
}

TEST_CASE("trials that no tuner asked for are asked for at their times, further steps too, each once") {
  TracedStudy study = TwoTrials();
  study.trials[0].claims.push_back({Step{20}, Seconds(13), Seconds(40), ClaimState::kDone});  // its stage was retried
  study.trials[0].closed = Seconds(12.25);
  const std::vector<sim::TimedBatch> batches = BatchesOf(study);
  REQUIRE(batches.size() == 4);
  CHECK(batches[0].at == Seconds(0.25));
  REQUIRE(batches[0].batch.new_trials.size() == 2);
  CHECK(batches[0].batch.new_trials[1].sequences == study.trials[1].sequences);
  CHECK(batches[0].batch.new_trials[1].steps == Step{10});
  CHECK(batches[0].batch.new_trials[1].horizon == Step{20});
  CHECK(batches[0].batch.new_trials[1].more.empty());
  CHECK(batches[1].at == Seconds(11.75));
  CHECK(batches[1].batch.claims == std::vector<master::FurtherClaim>{{TrialId{1}, Step{20}}, {TrialId{2}, Step{20}}});
  CHECK(batches[2].at == Seconds(12));
  CHECK(batches[2].batch.close == std::vector{TrialId{1}});
  CHECK(batches[3].at == Seconds(12.25));
  CHECK(batches[3].batch.finish);
}

TEST_CASE("a replay takes the recorded times, each node its own, and shares what trials shared") {
  TracedStudy study = TwoTrials();
  const sim::SimulatedStudies simulated = Simulated(ReadBack(Written(study)));
  CHECK(simulated.steps.trained == 30);
  CHECK(simulated.estimated.steps == 0);
  CHECK(simulated.estimated.evaluations == 0);
  // From 0.5 s on 10 steps of a second; from 11.75 s on, since it came, the longer branch, 10 steps of two, on one of
  // the slots.
  CHECK(simulated.end_to_end.count() == Approx(11.75 + 20 + 0.125).margin(0.3));
  CHECK(simulated.slot_time.count() == Approx(0.25 + 10 + 10 + 20 + 2 * 0.125).margin(0.6));
  REQUIRE(simulated.studies[0].summary.best.has_value());
  CHECK(simulated.studies[0].summary.best->value == 0.5);
  CHECK(simulated.studies[0].summary.best->step == Step{10});
  REQUIRE_FALSE(simulated.runs.empty());
  for (const sim::SimulatedRun& run : simulated.runs) CHECK(run.slot.server == "here");
}

TEST_CASE(
    "a replay on servers with prices says what it costs, beside what really happened, of which no price is known") {
  const Trace trace = ReadBack(Written(TwoTrials()));
  SimulationResults results{.names = {"two"},
                            .arrivals = {Seconds(0)},
                            .teams = {"team"},
                            .servers = {{.slots = 2, .name = "here", .price = 7200}},
                            .all = {{"critical_path", std::nullopt, Simulated(trace)}},
                            .really = trace};
  std::ostringstream table;
  PrintTable(table, results);
  CHECK_THAT(table.str(), Catch::Contains("cost used  than it was") && Catch::Contains("what really happened"));
  std::ostringstream json;
  PrintJson(json, InJson(results));
  const auto row = nlohmann::json::parse(json.str())[0];
  CHECK(row["cost_rented"].get<double>() == Approx(2 * row["end_to_end_seconds"].get<double>()));
  CHECK(row["cost_used"].get<double>() == Approx(row["device_hours"].get<double>() * 3600));
  CHECK_FALSE(row["really"].contains("cost_used"));
}

TEST_CASE("a study that its user cancelled is cancelled after the same time") {
  TracedStudy study = TwoTrials();
  study.cancelled = true;
  for (TracedTrial& trial : study.trials) {
    trial.cancelled = true;
    trial.closed = Seconds(6);
  }
  study.ended = Seconds(6.5);
  const sim::SimulatedStudies simulated = Simulated(ReadBack(Written(study)));
  CHECK(simulated.end_to_end.count() == Approx(5.75).margin(1.2));  // a step more, which was begun
  CHECK(simulated.steps.trained <= 7);
}

TEST_CASE("a study that was cancelled is asked for nothing more in its replay, though it still waits for a state") {
  TracedStudy study = TwoTrials();
  study.nodes[0].costs[CostKind::kSave] = Seconds(3);  // after step 10, of which the metric has come
  study.cancelled = true;
  for (TracedTrial& trial : study.trials) {
    trial.cancelled = true;
    trial.closed = Seconds(12);
    trial.claims.back().made = Seconds(12.25);
  }
  study.ended = Seconds(14);
  const sim::SimulatedStudies simulated = Simulated(ReadBack(Written(study)));
  CHECK(simulated.end_to_end.count() > 12.5);
  CHECK(simulated.steps.trained == 10);
}

TEST_CASE("what of a trace cannot be replayed is refused, naming the study") {
  const auto why = [](const TracedStudy& study) {
    const Result<Replay> replay = ReplayOf(ReadBack(Written(study)));
    REQUIRE_FALSE(replay.has_value());
    CHECK(replay.error().field == "--trace");
    return replay.error().message;
  };
  TracedStudy study = TwoTrials();
  study.has_tuner = true;
  CHECK_THAT(why(study), Catch::StartsWith("study two \"quoted\": "));
  study = TwoTrials();
  study.trials[0].sequences["lr"] = "MultiStep(";
  CHECK_THAT(why(study), Catch::Contains("two"));
  study = TwoTrials();
  for (TracedNode& node : study.nodes) node.costs.erase(CostKind::kStep);
  CHECK_THAT(why(study), Catch::Contains("no step of it was measured"));
}

}  // namespace espalier::testing
