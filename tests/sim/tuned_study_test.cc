// A study with its tuner in virtual time (sim/tuned_study.h).
#include "sim/tuned_study.h"

#include <catch2/catch.hpp>

#include "client/tuners/registry.h"
#include "sim/learning_curves.h"

namespace espalier::sim {
namespace {

StudyToSimulate Study(int slot_count) {
  StudyToSimulate study{.slot_count = slot_count};
  study.specification = {
      .name = "study", .trainer = "any", .metric = "score", .undeclared = {{"lr", ValueType::kFloating}}};
  return study;
}

TunerMaker TunerOf(const std::string& name, const tuners::Options& options) {
  return [=] {
    std::vector<tuners::Candidate> candidates;
    for (const char* lr : {"0.1", "MultiStep(0.1, [40], gamma=0.1)", "MultiStep(0.1, [40], gamma=0.5)", "0.2"}) {
      candidates.push_back({{{"lr", lr}}, std::nullopt});
    }
    return tuners::MakeTuner(name, options, {candidates}).value();
  };
}

}  // namespace

TEST_CASE("a simulated grid trains what its trials share once, and more slots end it sooner") {
  const TunerMaker first = TunerOf("grid", {{"steps", Value{std::int64_t{80}}}});
  const SimulatedStudy on_one = SimulateStudy(Study(1), first).value();
  CHECK(on_one.summary.steps.trained == 40 + 3 * 40 + 80);
  CHECK(on_one.summary.steps.wasted == 0);
  CHECK(on_one.end_to_end > Seconds(200));
  const TunerMaker second = TunerOf("grid", {{"steps", Value{std::int64_t{80}}}});
  CHECK(SimulateStudy(Study(4), second).value().end_to_end < on_one.end_to_end / 2);
}

LearningCurves Curves(const std::string& csv) {
  return LearningCurves::Parse(csv, "score", {{"lr", ValueType::kFloating}}).value();
}

TEST_CASE("a simulated study reaches the metrics of a table") {
  std::string csv = "note,step,lr,score\n";
  for (const char* lr_and_score : {"0.1,0.1", "0.010000000000000002,0.2", "0.05,0.9", "0.2,0.3"}) {
    csv += std::string("\"a, \"\"quoted\"\" note\",80,") + lr_and_score + "\r\n";
    csv += std::string("of another step,40,") + lr_and_score + "5\r\n";
  }
  StudyToSimulate study = Study(2);
  study.curves = std::make_shared<const LearningCurves>(Curves(csv));
  const TunerMaker tuner = TunerOf("grid", {{"steps", Value{std::int64_t{80}}}});
  const SimulatedStudy simulated = SimulateStudy(study, tuner).value();
  REQUIRE(simulated.summary.best.has_value());
  CHECK(simulated.summary.best->value == 0.9);
  CHECK(simulated.summary.best->trial == TrialId{3});
}

TEST_CASE("what a table of metrics does not say ends the simulation, naming it") {
  StudyToSimulate study = Study(2);
  study.curves = std::make_shared<const LearningCurves>(Curves("step,lr,score\n80,0.1,0.5\n"));
  const TunerMaker tuner = TunerOf("grid", {{"steps", Value{std::int64_t{80}}}});
  const Result<SimulatedStudy> simulated = SimulateStudy(study, tuner);
  REQUIRE_FALSE(simulated.has_value());
  CHECK_THAT(simulated.error().message, Catch::Contains("step 80 with lr="));
}

TEST_CASE("a table of metrics that makes no sense is refused, naming row and column") {
  for (const auto& [csv, why] :
       std::vector<std::pair<std::string, std::string>>{{"", "empty"},
                                                        {"lr,score\n", "'step'"},
                                                        {"step,lr\n", "'score'"},
                                                        {"step,lr,score\n1,0.1\n", "row 2"},
                                                        {"step,lr,score\n1,much,0.5\n", "row 2: lr"},
                                                        {"step,lr,score\n1,nan,0.5\n", "row 2: lr"},
                                                        {"step,lr,score\n1,0.1,much\n", "row 2: score"},
                                                        {"step,lr,score\n-1,0.1,0.5\n", "row 2: step"},
                                                        {"step,lr,score\n1,0.1,0.5\n1,0.1,0.6\n", "row 3"},
                                                        {"step,lr,score\n1,\"0.1,0.5\n", "quote"}}) {
    INFO(csv);
    const auto curves = LearningCurves::Parse(csv, "score", {{"lr", ValueType::kFloating}});
    REQUIRE_FALSE(curves.has_value());
    CHECK_THAT(curves.error().message, Catch::Contains(why));
  }
}

TEST_CASE("a simulated tuner is told of what its trials reached, and stops the worse half") {
  const TunerMaker tuner = TunerOf(
      "sha",
      {{"min", Value{std::int64_t{20}}}, {"max", Value{std::int64_t{80}}}, {"reduction", Value{std::int64_t{2}}}});
  const SimulatedStudy simulated = SimulateStudy(Study(2), tuner).value();
  CHECK(simulated.summary.steps.claimed == 2 * 20 + 40 + 80);
  CHECK(simulated.summary.best.has_value());
}

TEST_CASE("a study that the master refuses is an error") {
  StudyToSimulate study = Study(1);
  study.specification.undeclared.clear();
  const TunerMaker tuner = TunerOf("grid", {{"steps", Value{std::int64_t{80}}}});
  CHECK(SimulateStudy(study, tuner).error().field == "trials[0].lr");
}

}  // namespace espalier::sim
