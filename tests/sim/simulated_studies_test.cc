// Studies with their tuners in virtual time (sim/simulated_studies.h).
#include "sim/simulated_studies.h"

#include <catch2/catch.hpp>

#include "client/tuners/registry.h"
#include "sim/learning_curves.h"

namespace espalier::sim {
namespace {

ServiceToSimulate ServiceOf(int slots) { return {.servers = {{.slots = slots}}}; }

StudyToSimulate StudyOf(TunerMaker make_tuner) {
  return {.specification = {.name = "study",
                            .trainer = "any",
                            .metric = "score",
                            .undeclared = {{"lr", ValueType::kFloating}}},
          .make_tuner = std::move(make_tuner)};
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

TunerMaker Grid() { return TunerOf("grid", {{"steps", Value{std::int64_t{80}}}}); }

}  // namespace

TEST_CASE("a simulated grid trains what its trials share once, and more slots end it sooner") {
  const StudyToSimulate grid = StudyOf(Grid());
  const SimulatedStudy on_one = SimulateStudy(ServiceOf(1), grid).value();
  CHECK(on_one.summary.steps.trained == 40 + 3 * 40 + 80);
  CHECK(on_one.summary.steps.wasted == 0);
  CHECK(on_one.end_to_end > Seconds(200));
  CHECK(on_one.summary.makespan_bound > Seconds(200));
  CHECK(on_one.summary.makespan_bound < on_one.end_to_end);
  CHECK(SimulateStudy(ServiceOf(4), grid).value().end_to_end < on_one.end_to_end / 2);
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
  ServiceToSimulate service = ServiceOf(2);
  service.measures.tables.emplace("score", Curves(csv));
  const SimulatedStudy simulated = SimulateStudy(service, StudyOf(Grid())).value();
  REQUIRE(simulated.summary.best.has_value());
  CHECK(simulated.summary.best->value == 0.9);
  CHECK(simulated.summary.best->trial == TrialId{3});
}

TEST_CASE("a simulated policy releases trials by the metrics of a table, where the study lets it") {
  std::string csv = "step,lr,score\n";
  for (int step = 10; step <= 80; step += 10) {
    for (const char* lr_and_score : {"0.1,0.8", "0.2,0.3"}) csv += std::to_string(step) + "," + lr_and_score + "\n";
  }
  StudyToSimulate study = StudyOf([] {
    return tuners::MakeTuner("grid", {{"steps", Value{std::int64_t{80}}}},
                             {{{{{"lr", "0.1"}}, std::nullopt}, {{{"lr", "0.2"}}, std::nullopt}}})
        .value();
  });
  study.specification.evaluate_every = 10;
  study.specification.policy.may_stop = GENERATE(true, false);
  ServiceToSimulate service = ServiceOf(2);
  service.measures.tables.emplace("score", Curves(csv));
  const auto trained = [&](const std::string& policy) {
    service.policy = policy;
    return SimulateStudy(service, study).value().summary.steps.trained;
  };
  CHECK(trained("critical_path") == 160);
  if (study.specification.policy.may_stop) {
    CHECK(trained("bandit") < 110);
    CHECK(trained("early_term_last_value") < 130);
  } else {
    CHECK(trained("bandit") == 160);
  }
}

TEST_CASE("what a table of metrics does not say ends the simulation, naming it") {
  ServiceToSimulate service = ServiceOf(2);
  service.measures.tables.emplace("score", Curves("step,lr,score\n80,0.1,0.5\n"));
  const Result<SimulatedStudy> simulated = SimulateStudy(service, StudyOf(Grid()));
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
  const SimulatedStudy simulated = SimulateStudy(ServiceOf(2), StudyOf(tuner)).value();
  CHECK(simulated.summary.steps.claimed == 2 * 20 + 40 + 80);
  CHECK(simulated.summary.best.has_value());
}

TEST_CASE("a grid of more trials than a master takes at once is submitted in parts") {
  constexpr std::int64_t kTrials = 20'001;
  const auto all_alike = [] {
    const std::vector<tuners::Candidate> candidates(kTrials, {{{"lr", "0.1"}}, std::nullopt});
    return tuners::MakeTuner("grid", {{"steps", Value{std::int64_t{1}}}}, {candidates}).value();
  };
  const SimulatedStudy simulated = SimulateStudy(ServiceOf(2), StudyOf(all_alike)).value();
  CHECK(simulated.summary.steps.claimed == kTrials);
  CHECK(simulated.summary.steps.trained == 1);
}

TEST_CASE("a trial that the master refuses is named by its place in all of them, however they are submitted") {
  const auto last_is_wrong = [] {
    std::vector<tuners::Candidate> candidates(5'500, {{{"lr", "0.1"}}, std::nullopt});
    candidates.back().sequences["wd"] = "0.1";  // of no type that the study says
    return tuners::MakeTuner("grid", {{"steps", Value{std::int64_t{1}}}}, {candidates}).value();
  };
  const auto simulated = SimulateStudy(ServiceOf(2), StudyOf(last_is_wrong));
  REQUIRE_FALSE(simulated.has_value());
  CHECK(simulated.error().field == "trials[5499].wd");
}

TEST_CASE(
    "three trials of one length share two slots to the end where runs are preempted for it, and nothing is wasted") {
  const auto three = [] {
    const std::vector<tuners::Candidate> candidates{
        {{{"lr", "0.1"}}, std::nullopt}, {{{"lr", "0.2"}}, std::nullopt}, {{{"lr", "0.3"}}, std::nullopt}};
    return tuners::MakeTuner("grid", {{"steps", Value{std::int64_t{80}}}}, {candidates}).value();
  };
  const auto under = [&](const std::string& policy) {
    ServiceToSimulate service = ServiceOf(2);
    service.policy = policy;
    return SimulateStudies(service, {StudyOf(three)}).value();
  };
  const SimulatedStudies even = under("critical_path");
  CHECK(even.end_to_end < under("critical_path_not_preempting").end_to_end * 0.85);
  CHECK(even.steps.trained == 3 * 80);
  CHECK(even.studies.front().summary.steps.wasted == 0);
}

TEST_CASE("a study that the master refuses is an error") {
  const StudyToSimulate taken = StudyOf(Grid());
  StudyToSimulate refused = taken;
  refused.specification.undeclared.clear();
  CHECK(SimulateStudy(ServiceOf(1), refused).error().field == "trials[0].lr");
  std::size_t at = 0;
  CHECK(SimulateStudies(ServiceOf(1), {taken, refused, taken}, &at).error().field == "trials[0].lr");
  CHECK(at == 1);
}

TEST_CASE("simulated studies share what they begin alike, but not under the scope nobody, or of another trainer") {
  const StudyToSimulate team = StudyOf(Grid());
  const auto trained = [](const StudyToSimulate& first, const StudyToSimulate& second) {
    return SimulateStudies(ServiceOf(2), {first, second}).value().steps.trained;
  };
  constexpr std::int64_t kOnce = 40 + 3 * 40 + 80;
  StudyToSimulate later = team;
  later.arrives_at = Seconds(1000);  // nothing is under way any more
  CHECK(trained(team, later) == kOnce);
  StudyToSimulate alone = later;
  alone.specification.scope = Scope::kNobody;
  CHECK(trained(team, alone) == kOnce + 4 * 80);
  StudyToSimulate other = team;
  other.specification.trainer = "other";
  other.specification.metric = "accuracy";
  CHECK(trained(team, other) == 2 * kOnce);
  const SimulatedSteps steps = SimulateStudies(ServiceOf(2), {team, team}).value().steps;
  CHECK(steps.claimed == 2 * 4 * 80);
  CHECK(steps.unique == kOnce);
}

TEST_CASE("a simulated study comes at its time, and all of them take from the first one's until the last is finished") {
  StudyToSimulate first = StudyOf(Grid());
  first.arrives_at = Seconds(500);
  StudyToSimulate second = first;
  second.arrives_at = Seconds(2000);
  second.specification.trainer = "other";
  const SimulatedStudies both = SimulateStudies(ServiceOf(2), {first, second}).value();
  const SimulatedStudies alone = SimulateStudies(ServiceOf(2), {first}).value();
  CHECK(both.studies[1].end_to_end < Seconds(300));
  CHECK(both.end_to_end == Seconds(1500) + both.studies[1].end_to_end);
  CHECK(both.bound > Seconds(1500));
  CHECK(both.bound < both.end_to_end);
  CHECK(alone.end_to_end == alone.studies[0].end_to_end);
  CHECK(both.slot_time > alone.slot_time * 1.5);
}

TEST_CASE("a faster server trains in less time, and the slower one's slots are held for longer") {
  const StudyToSimulate grid = StudyOf(Grid());
  const auto on = [&](std::vector<SimulatedServer> servers) {
    return SimulateStudies({.servers = std::move(servers)}, {grid}).value();
  };
  const SimulatedStudies slow = on({{.slots = 2}});
  const SimulatedStudies fast = on({{.slots = 2, .speed = 4}});
  CHECK(fast.end_to_end < slow.end_to_end / 2);
  CHECK(fast.slot_time < slow.slot_time / 2);
  CHECK(on({{.slots = 1}, {.slots = 1, .speed = 4}}).end_to_end < slow.end_to_end);
}

}  // namespace espalier::sim
