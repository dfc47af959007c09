// Training metrics on their way: what steps returned is reported while they are trained, and none is lost.
#include <cmath>

#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

TEST_CASE("what steps returned is reported about once a second, and with the end") {
  Scenario scenario;  // a step takes 0.1 s
  scenario.Want({RunBuilder(1).Stage(3, 5, 0.1).Save(5)});
  scenario.RunInto(3);
  CHECK(scenario.ReportedSeries().empty());
  scenario.now += Seconds(1);
  scenario.Answer();
  REQUIRE(scenario.ReportedSeries() == Texts{"series n3 1 2 3"});
  const auto reported = scenario.Last<TrainingMetrics>();
  CHECK(reported.plan == PlanId{1});
  CHECK(reported.lineage == LineageOf(3));
  CHECK(reported.series.names == Texts{"loss", "samples"});
  CHECK(reported.series.values == std::vector<double>{1, 10, 1, 10, 1, 10});
  scenario.RunOut();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 4 5"});
}

TEST_CASE("what a step returned that is followed by a long one is not held back until that is trained") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 2, 0.1).Save(2)});
  scenario.RunInto(2);
  scenario.Pass(2);
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1"});
}

TEST_CASE("each plan node on a run's path has its own series") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(2, 5, 0.1).Stage(3, 7, 0.1).Stage(4, 8, 0.2).Save(8)});
  scenario.RunOut();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 6 7", "series n4 8"});
  CHECK(scenario.Last<TrainingMetrics>().lineage == LineageOf(4));
}

TEST_CASE("a worker that dies takes nothing with it that its steps returned") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Save(9)});
  scenario.RunInto(4);
  scenario.Die();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1 2 3"});
}

TEST_CASE("the step whose loss is not finite is in the series that it ends") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Save(9)});
  scenario.RunInto(2);
  scenario.AnswerWith(Trained{{{"loss", std::nan("")}}, Seconds(0.1)});
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1", "series n3 2"});
  CHECK(std::isnan(scenario.Last<TrainingMetrics>().series.values.at(0)));
}

TEST_CASE("a step that is under way when nobody needs the run any more is in the series, too") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Save(9)});
  scenario.RunInto(2);
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Generation(2)});
  scenario.RunOut();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1 2"});
}

TEST_CASE("a step that is done just before its worker is killed, since it took too long, is in the series, too") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Save(9)});
  scenario.RunInto(2);
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Generation(2)});
  scenario.Pass(600);
  REQUIRE(scenario.Asked().back() == "Kill");
  scenario.AnswerWith(Trained{{{"loss", 1.0}, {"samples", 10.0}}, Seconds(600)});
  scenario.Die();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1", "series n3 2"});
}

TEST_CASE("steps that return other metrics than those before are a batch of their own") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 3, 0.1).Save(3)});
  scenario.RunInto(2);
  scenario.AnswerWith(Trained{{{"accuracy", 0.5}, {"loss", 1.0}}, Seconds(0.1)});
  scenario.RunOut();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1", "series n3 2", "series n3 3"});
}

TEST_CASE("of a step that returns very many metrics the first by name are reported") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 1, 0.1).Save(1)});
  scenario.RunInto(1);
  Trained trained{{}, Seconds(0.1)};
  for (int i = 100; i < 200; ++i) trained.metrics.emplace("m" + std::to_string(i), i);
  scenario.AnswerWith(trained);
  const auto reported = scenario.Last<TrainingMetrics>();
  CHECK(reported.series.names.size() == 64);
  CHECK(reported.series.names.back() == "m163");
  CHECK(reported.series.values.back() == 163);
}

TEST_CASE("a run that begins again reports what it trains anew in another batch") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  scenario.AnswerWith(Failure{FailureKind::kFinished, "enough", /*state_intact=*/false});
  scenario.RunOut();
  CHECK(scenario.ReportedSeries() == Texts{"series n3 1 2", "series n3 1 2"});
}

}  // namespace
}  // namespace espalier::node
