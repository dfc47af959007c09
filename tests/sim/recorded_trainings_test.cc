// What real trainings took and measured, for simulated ones (sim/recorded_trainings.h).
#include "sim/recorded_trainings.h"

#include <catch2/catch.hpp>

#include "client/tuners/registry.h"
#include "sim/simulated_studies.h"

namespace espalier::sim {
namespace {

const TrainingName kName{"any", "", {}};

RecordedTraining TrainingAt(const std::string& lr, double step, std::map<Step, Metrics> metrics) {
  return {.name = kName,
          .sequences = {{"lr", lr}},
          .types = {{"lr", ValueType::kFloating}},
          .stretches = {{Step{20}, {{CostKind::kStep, Seconds(step)}, {CostKind::kEvaluate, Seconds(0.5)}}, true}},
          .metrics = std::move(metrics)};
}

// After so many steps of one rate.
std::uint64_t StateAt(double lr, int steps) {
  std::uint64_t state = RecordedTrainings::StateAfterInit(kName);
  for (int i = 0; i < steps; ++i) state = RecordedTrainings::StateAfterStep(state, {{"lr", lr}});
  return state;
}

}  // namespace

TEST_CASE("what was measured is given back, and between and beyond it is estimated on the training's own way") {
  RecordedTrainings recorded;
  REQUIRE(recorded.Add(TrainingAt("0.1", 2, {{Step{4}, {{"acc", 0.2}}}, {Step{8}, {{"acc", 0.6}}}})).has_value());
  const auto acc = [&](int steps) { return recorded.MetricsAt(StateAt(0.1, steps), Step{steps}).value().at("acc"); };
  CHECK(acc(4) == 0.2);
  CHECK(acc(8) == 0.6);
  CHECK(acc(5) == Approx(0.3));
  CHECK(acc(1) == 0.2);
  CHECK(acc(20) == 0.6);
  CHECK(recorded.WasEvaluated(StateAt(0.1, 8), Step{8}));
  CHECK_FALSE(recorded.WasEvaluated(StateAt(0.1, 5), Step{5}));
  CHECK(recorded.TimeAt(CostKind::kStep, kName, StateAt(0.1, 5), Step{5}, {{"lr", 0.1}}) == Seconds(2));
}

TEST_CASE("neutral values may be named or left out: the training is the same") {
  const std::uint64_t state = RecordedTrainings::StateAfterInit(kName);
  const worker::Values named{{"lr", 0.1}, {"dropout", 0.0}, {"mood", std::string()}, {"warp", std::int64_t{0}}};
  CHECK(RecordedTrainings::StateAfterStep(state, named) == RecordedTrainings::StateAfterStep(state, {{"lr", 0.1}}));
  CHECK(RecordedTrainings::StateAfterStep(state, {{"lr", 0.2}}) !=
        RecordedTrainings::StateAfterStep(state, {{"lr", 0.1}}));
}

TEST_CASE("another trainer's, other data's or other steps' training of the same values is another one") {
  const std::uint64_t state = RecordedTrainings::StateAfterInit(kName);
  for (const TrainingName& other : {TrainingName{"other", "", {}}, {"any", "digits", {}}, {"any", "", {200}}}) {
    CHECK(RecordedTrainings::StateAfterInit(other) != state);
  }
}

TEST_CASE("a step that no recorded trial took takes what the measured ones tell of its values") {
  RecordedTrainings recorded;
  REQUIRE(recorded.Add(TrainingAt("0.1", 1, {})).has_value());
  REQUIRE(recorded.Add(TrainingAt("0.3", 3, {})).has_value());
  const Seconds between = *recorded.TimeAt(CostKind::kStep, kName, StateAt(0.2, 1), Step{1}, {{"lr", 0.2}});
  CHECK(between.count() == Approx(2).epsilon(0.05));
  CHECK_FALSE(recorded.WasTrained(StateAt(0.2, 1), Step{1}));
  CHECK_FALSE(recorded.TimeAt(CostKind::kStep, {"other", "", {}}, 7, Step{1}, {{"lr", 0.2}}).has_value());
  CHECK_FALSE(recorded.TimeAt(CostKind::kSave, kName, StateAt(0.2, 1), Step{1}, {{"lr", 0.2}}).has_value());
}

TEST_CASE("metrics of what was never trained or never evaluated are refused, saying so") {
  RecordedTrainings recorded;
  REQUIRE(recorded.Add(TrainingAt("0.1", 1, {})).has_value());
  CHECK_THAT(recorded.MetricsAt(StateAt(0.1, 3), Step{3}).error().message,
             Catch::Contains("no metric anywhere on the way"));
  CHECK_THAT(recorded.MetricsAt(StateAt(0.2, 3), Step{3}).error().message, Catch::Contains("no training such as"));
}

TEST_CASE("a sequence that makes no sense is refused, naming the hyper-parameter") {
  RecordedTrainings recorded;
  for (const char* text : {"MultiStep(", "\"fast\"", "Unknown(1)"}) {
    const Result<void> added = recorded.Add(TrainingAt(text, 1, {}));
    REQUIRE_FALSE(added.has_value());
    CHECK(added.error().field == "lr");
  }
}

TEST_CASE("a tuner whose results come as they were recorded decides as it did, at other speeds, too") {
  RecordedTrainings recorded;
  std::vector<tuners::Candidate> candidates;
  for (const char* lr : {"0.1", "0.2", "0.3", "0.4"}) {
    candidates.push_back({{{"lr", lr}}, std::nullopt});
    const double worth = std::string(lr) == "0.2" ? 0.9 : 0.1;
    const RecordedTraining training =
        TrainingAt(lr, 1, {{Step{5}, {{"score", worth}}}, {Step{20}, {{"score", worth}}}});
    REQUIRE(recorded.Add(training).has_value());
  }
  const StudyToSimulate study{.specification = {.name = "study",
                                                .trainer = "any",
                                                .metric = "score",
                                                .undeclared = {{"lr", ValueType::kFloating}}},
                              .make_tuner = [=] {
                                const tuners::Options options{{"min", Value{std::int64_t{5}}},
                                                              {"max", Value{std::int64_t{20}}},
                                                              {"reduction", Value{std::int64_t{4}}}};
                                return tuners::MakeTuner("sha", options, {candidates}).value();
                              }};
  ServiceToSimulate service{.servers = {{.slots = 4, .speed = 2}}};
  service.measures.recorded = &recorded;
  const SimulatedStudies simulated = SimulateStudies(service, {study}).value();
  CHECK(simulated.steps.trained == 4 * 5 + 15);
  CHECK(simulated.studies[0].summary.best->trial == TrialId{2});
  CHECK(simulated.estimated.steps == 0);
  // Workers start in 2 s, side by side; 20 steps one after the other, each half a second here; two evaluations of a
  // quarter.
  CHECK(simulated.end_to_end > Seconds(10.5));
  CHECK(simulated.end_to_end < Seconds(18));
}

}  // namespace espalier::sim
