// What one run asks of its worker, and when: law 1's order, values, and what is reported of it.
#include "tests/unit/node/scenario.h"

namespace espalier::node {

TEST_CASE("a run from scratch is given its initial values, then all others, then its steps one at a time") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Setup lr=0.1", "Train 1"});
  scenario.Answer();
  CHECK(scenario.Asked().empty());
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Train 2"});
}

TEST_CASE("at a step: evaluate, save, set up what changes, train") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 1, 0.1).Stage(2, 2, 0.2).Both(1).Save(2)});
  scenario.RunInto(1);
  scenario.Asked();
  scenario.RunOut();
  CHECK(scenario.Asked() == Texts{"Evaluate", "Save 1", "Setup lr=0.2", "Train 2", "Save 2"});
}

TEST_CASE("a resumed run sets up the values before its start, loads, then sets up what changes there") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(2, 7, 0.2).Save(7)});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/file"});
  scenario.RunInto(6);
  CHECK(scenario.Asked() == Texts{"Setup lr=0.2", "Train 6"});
}

TEST_CASE("a resumed run whose values do not change sets up nothing more") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 7, 0.1).Save(7)});
  scenario.RunInto(6);
  CHECK(scenario.Asked().back() == "Train 6");
  CHECK(scenario.Status(1).step == Step{6});
}

TEST_CASE("values are taken from the functions at their absolute step") {
  Scenario scenario;
  const Function linear{Linear{1.0, 0.5}, Step{1}};
  scenario.Want({RunBuilder(1).From(1, 3, 0.1).Stage(2, 5, linear).Save(5)});
  scenario.RunInto(5);
  const Texts expected{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/file", "Setup lr=2.0", "Train 4",
                       "Setup lr=2.5",       "Train 5"};
  CHECK(scenario.Asked() == expected);
}

TEST_CASE("an undeclared hyper-parameter is set where it has an effect, and to neutral where it has none any more") {
  Scenario scenario;
  const Function warp{Linear{1.0, 0.5}, Step{0}};
  const Function name{Constant{std::string("x")}, Step{0}};
  scenario.Want(
      {RunBuilder(1).Stage(1, 2, 0.1).Undeclared("warp", warp).Stage(2, 4, 0.1).Undeclared("name", name).Save(4)});
  scenario.RunInto(4);
  const Texts expected{"Init lr=0.1 seed=7 warp=1.0",
                       "Setup lr=0.1 warp=1.0",
                       "Train 1",
                       "Setup warp=1.5",
                       "Train 2",
                       "Setup name=\"x\" warp=0.0",
                       "Train 3",
                       "Train 4"};
  CHECK(scenario.Asked() == expected);
}

TEST_CASE("metrics are reported when they are measured, the state of the same step when it is stored") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 9, 0.1).Both(2).Save(9)});
  scenario.RunInto(3);
  CHECK(scenario.Reported() == Texts{"metrics 2 score=0.5"});
  const auto measured = scenario.Last<MetricsMeasured>();
  CHECK(measured.plan == PlanId{1});
  CHECK(measured.point == Point{PlanNodeId{3}, Step{2}});
  CHECK(measured.lineage == LineageOf(3));
  CHECK(measured.evaluation == "evaluation");
  CHECK(measured.time == Seconds(0.25));
  scenario.now += Seconds(2);
  scenario.AnswerSave();
  CHECK(scenario.Reported().empty());
  scenario.now += Seconds(5);
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"state 2"});
  const auto stored = scenario.Last<StateStored>();
  CHECK(stored.plan == PlanId{1});
  CHECK(stored.point == Point{PlanNodeId{3}, Step{2}});
  CHECK(stored.lineage == LineageOf(3));
  CHECK(stored.file == "1/3/3-2-77-1.ckpt");
  CHECK(stored.bytes == 100);
  CHECK(stored.state_sha256 == "sha");
  CHECK(stored.time.count() == Approx(2));  // from asking until it was written
}

TEST_CASE("a save is asked for under the run's own name and the point's identity") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 2, 0.1).Save(2)});
  scenario.RunOut();
  REQUIRE(scenario.saves.size() == 1);
  CHECK(scenario.saves[0].path == "/staging/77-1-2.ckpt");
  CHECK(scenario.saves[0].identity.run == Key(1));
  CHECK(scenario.saves[0].identity.plan == PlanId{1});
  CHECK(scenario.saves[0].identity.point == Point{PlanNodeId{3}, Step{2}});
  CHECK(scenario.saves[0].identity.lineage == LineageOf(3));
}

TEST_CASE("periods evaluate and save as the run passes") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Save(6).EvaluateEvery(2).SaveEvery(0.35)});
  scenario.RunOut();
  const Texts expected{"Init lr=0.1 seed=7", "Setup lr=0.1", "Train 1", "Train 2", "Evaluate", "Train 3", "Train 4",
                       "Evaluate",           "Save 4",       "Train 5", "Train 6", "Evaluate", "Save 6"};
  CHECK(scenario.Asked() == expected);
}

TEST_CASE("how often a run saves follows what it is told last, whatever it owes") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Save(6).SaveEvery(0.05)});
  scenario.RunInto(3);
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Save(6).SaveEvery(100)});
  scenario.RunOut();
  const Texts asked = scenario.Asked();
  const auto saved = [&](int step) { return std::ranges::count(asked, "Save " + std::to_string(step)) == 1; };
  CHECK((saved(1) && saved(2)));
  CHECK_FALSE((saved(4) || saved(5)));
  CHECK(saved(6));
}

TEST_CASE("a run with an empty path evaluates the checkpoint it starts from, and trains nothing") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(4, 5, 0.1).Evaluate(5)});
  scenario.RunOut();
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/file", "Evaluate"});
  CHECK(scenario.Reported() == Texts{"metrics 5 score=0.5", "ended 5"});
  CHECK(scenario.Last<MetricsMeasured>().lineage == LineageOf(4));
  CHECK(scenario.Status(1).state == RunStatus::State::kEnded);
}

TEST_CASE("the most memory that worker and GPU have held is reported of each stage with the end") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Stage(2, 3, 0.2).Evaluate(3)});
  const std::int64_t held[] = {900, 700, 800};
  for (int step = 1; step <= 3; ++step) {
    scenario.RunInto(step);
    scenario.AnswerWith(
        Trained{.metrics = {{"loss", 1.0}}, .peak_bytes = held[step - 1], .peak_device_bytes = 10 * held[step - 1]});
  }
  scenario.RunOut();
  CHECK(scenario.Last<RunEnded>().stages ==
        std::vector<StageUse>{{PlanNodeId{1}, 900, 9000, 0, 0}, {PlanNodeId{2}, 800, 8000, 0, 0}});
}

TEST_CASE("set-up, load and slot times are reported with the end") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(2, 6, 0.2).Evaluate(6)});
  for (const double seconds : {3.0, 2.0, 4.0}) {  // Init, Setup, Load
    scenario.now += Seconds(seconds);
    scenario.Answer();
  }
  scenario.now += Seconds(8);
  scenario.Answer();  // the second Setup is the step's own
  scenario.RunOut();
  const auto ended = scenario.Last<RunEnded>();
  CHECK(ended.set_up_time.count() == Approx(5));
  CHECK(ended.load_time.count() == Approx(4));
  CHECK(ended.slot_time.count() == Approx(17.1));
}

TEST_CASE("the first Setup of a run from scratch counts as set-up, and nothing was loaded") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 1, 0.1).Evaluate(1)});
  scenario.now += Seconds(3);
  scenario.Answer();
  scenario.now += Seconds(2);
  scenario.Answer();
  scenario.RunOut();
  CHECK(scenario.Last<RunEnded>().set_up_time.count() == Approx(5));
  CHECK(scenario.Last<RunEnded>().load_time == Seconds(0));
}

}  // namespace espalier::node
