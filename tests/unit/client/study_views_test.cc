// What a study says of itself, and going on from its trials.
#include <cmath>

#include "client/study.h"
#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

const std::vector<TrialText> kRates{{{"lr", "0.1"}}, {{"lr", "0.3"}}, {{"lr", "bad"}}, {{"lr", "0.2"}}};

// With each trial measured at step 5.
Study Trained(Client& client, const std::string& name = "s") {
  Study study = Create(client, name);
  WaitAll(study.Submit(kRates, {.steps = Step{5}, .horizon = Step{50}}).value());
  return study;
}

}  // namespace

TEST_CASE("a study says how it stands, and is found by its name") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const Study study = Trained(client);
  const StudyView view = client.FindStudy("s").value().View().value();
  CHECK(view.id == study.id());
  CHECK(view.name == "s");
  CHECK(view.trainer == "mlp");
  CHECK_FALSE(view.finished);
  CHECK(view.trials == std::map<std::string, std::int64_t>{{"idle", 3}, {"failed", 1}});
  CHECK(view.claimed_steps == 20);
  REQUIRE(view.best.has_value());
  CHECK(view.best->step == Step{5});
  CHECK(view.best->value == Approx(0.305));
  CHECK(client.FindStudy("another").error().code == ErrorCode::kNotFound);
}

TEST_CASE("all studies are listed, page after page, the newest first") {
  FakeMaster master(Options());
  Client client = Connect(master);
  for (const char* name : {"a", "b", "c"}) CHECK(Trained(client, name).Cancel().has_value());
  const std::vector<StudyEntry> studies = client.ListStudies().value();
  REQUIRE(studies.size() == 3);
  CHECK(studies[0].name == "c");
  CHECK(studies[2].name == "a");
  CHECK(studies[2].finished);
  CHECK(studies[2].best->value == Approx(0.305));
  CHECK(client.ListStudies(2).value().size() == 2);
}

TEST_CASE("trials are listed as submitted, or the best first, all or in some states") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const Study study = Trained(client);
  const std::vector<TrialView> all = study.Trials().value();
  REQUIRE(all.size() == 4);
  CHECK(all[1].sequences == kRates[1]);
  CHECK(all[1].steps == Step{5});
  CHECK(all[1].horizon == Step{50});
  CHECK(all[1].evaluations.at(Step{5}).at("test_acc") == Approx(0.305));
  CHECK(all[2].state == "failed");
  CHECK_FALSE(all[2].metric.has_value());
  const std::vector<TrialView> two = study.Trials({.best_first = true, .states = {"idle"}, .count_max = 2}).value();
  REQUIRE(two.size() == 2);
  CHECK(two[0].id == all[1].id);
  CHECK(two[1].id == all[3].id);
  CHECK(study.Best().value()->id == all[1].id);
}

TEST_CASE("a study without a result has no best trial") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  CHECK_FALSE(study.Best().value().has_value());
  CHECK(study.Submit(kRates, {.steps = Step{5}, .horizon = Step{}}).has_value());
  CHECK_FALSE(study.Best().value().has_value());
}

TEST_CASE("of a trial there is what was measured, what its steps returned, and its states") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const Study study = Trained(client);
  const TrialId trial = study.Trials().value()[1].id;
  CHECK(study.ViewTrial(trial).value().evaluations.at(Step{5}).at("test_acc") == Approx(0.305));
  const TrainingCurves curves = study.TrainingMetrics(trial).value();
  CHECK(curves.at("loss").size() == 4);
  CHECK(curves.at("loss").at(Step{4}) == Approx(2));
  CHECK(curves.at("accuracy").at(Step{4}) == Approx(0.5));
  const std::vector<CheckpointView> states = study.Checkpoints(trial).value();
  REQUIRE(states.size() == 1);
  CHECK(states[0].step == Step{5});
  CHECK(states[0].file == std::to_string(trial.value) + "@5");
  CHECK(states[0].bytes == 1000);
  CHECK(study.ViewTrial(TrialId{1000}).error().code == ErrorCode::kNotFound);
}

TEST_CASE("a forecast says what trials would cost, and nothing where nothing is known") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const StudySpecification specification{.name = "planned", .trainer = "mlp", .metric = "test_acc", .definition = "{}"};
  const ForecastView forecast = client.Forecast(specification, kRates, {.steps = Step{5}, .horizon = Step{50}}).value();
  CHECK(forecast.trials == 4);
  CHECK(forecast.total_steps == 200);
  CHECK(forecast.remaining_steps == 200);
  CHECK(forecast.slot_time == Seconds{2.5});
  CHECK(forecast.checkpoint_bytes == 1000);
  const StudySpecification unknown{.name = "planned", .trainer = "synthetic", .metric = "loss", .definition = "{}"};
  const ForecastView vague = client.Forecast(unknown, kRates, {.steps = Step{5}, .horizon = Step{50}}).value();
  CHECK_FALSE(vague.slot_time.has_value());
  CHECK_FALSE(vague.checkpoint_bytes.has_value());
  CHECK(client.ListStudies().value().empty());
}

TEST_CASE("a trial is extended in a study of its own, whose futures are read") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const Study study = Trained(client);
  const TrialId trial = study.Trials().value()[1].id;
  Continued longer = study.Extend(trial, Step{100}).value();
  REQUIRE(longer.evaluations.size() == 1);
  CHECK(longer.evaluations[0].Get()->trial == longer.trials[0]);
  CHECK(longer.evaluations[0].Get()->step == Step{100});
  CHECK(longer.study.id() != study.id());
  CHECK(longer.study.WaitUntilFinished().value());
  REQUIRE(master.continuations().size() == 1);
  CHECK(master.continuations()[0].name() == "trial-" + std::to_string(trial.value) + "-extended");
  CHECK(master.continuations()[0].continuations(0).from_step() == 0);
}

TEST_CASE("branches part where they say, by what changes or by a decay") {
  FakeMaster master(Options());
  Client client = Connect(master);
  const Study study = Trained(client);
  const TrialId trial = study.Trials().value()[1].id;
  const std::vector<TrialBranch> branches{
      {.at = Step{3}, .change = {{"lr", "0.9"}}, .steps = Step{10}},
      {.at = Step{4}, .decay = BranchDecay{.share = 0.25, .shape = "linear", .parameter = "lr", .end = 0.01}}};
  const Continued ways = study.Branch(trial, branches, "ways").value();
  REQUIRE(ways.evaluations.size() == 2);
  CHECK(ways.evaluations[0].Get()->metrics.at("test_acc") == Approx(0.91));
  REQUIRE(master.continuations().size() == 1);
  const v1::ContinueTrialRequest asked = master.continuations()[0];
  CHECK(asked.name() == "ways");
  CHECK(asked.continuations(0).from_step() == 3);
  CHECK(asked.continuations(0).sequences().at("lr") == "0.9");
  CHECK_FALSE(asked.continuations(0).has_decay());
  CHECK(asked.continuations(1).decay().shape() == "linear");
  CHECK(asked.continuations(1).decay().share() == 0.25);
  CHECK(asked.continuations(1).decay().end() == 0.01);
  const Result<Continued> same = study.Branch(trial, {branches[0], {.at = Step{2}}});
  REQUIRE_FALSE(same.has_value());
  CHECK(same.error().field == "branches[1]");
}

}  // namespace espalier
