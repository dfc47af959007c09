// Promises that come, are kept, are withdrawn and are lost while a run is under way.
#include "tests/unit/node/scenario.h"

namespace espalier::node {

TEST_CASE("a new promise ahead of the runner is kept as it passes") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  scenario.Asked();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(4).Save(9)});
  CHECK(scenario.Asked().empty());
  scenario.RunInto(5);
  CHECK(scenario.Asked() == Texts{"Train 4", "Save 4", "Train 5"});
  CHECK(scenario.Status(1).generation == 2);
}

TEST_CASE("a promise at the step in flight is in time") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  CHECK(scenario.Status(1).step == Step{3});
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(3).Save(9)});
  CHECK(scenario.Reported().empty());
  scenario.RunInto(4);
  CHECK(scenario.saves.size() == 1);
  CHECK(scenario.Reported() == Texts{"metrics 3 score=0.5"});
}

TEST_CASE("a promise at the very step of a runner that has not begun the next one is in time") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Evaluate(3).Save(9)});
  scenario.RunIntoEvaluation();
  CHECK(scenario.Status(1).step == Step{3});
  scenario.Asked();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(3).Save(9)});
  scenario.RunInto(4);
  CHECK(scenario.Asked() == Texts{"Save 3", "Train 4"});
}

TEST_CASE("promises behind the runner are lost, each once by its id, and the runner goes on") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(4).Save(9)});
  CHECK(scenario.Reported() == Texts{"lost metrics 4", "lost state 4"});
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(3).Both(4).Save(3).Save(9)});
  CHECK(scenario.Reported() == Texts{"lost state 3"});
  CHECK(scenario.Status(1).state == RunStatus::State::kTraining);
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Train 6");
}

TEST_CASE("metrics and state of one point are kept and lost apart") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(2).Save(9)});
  CHECK(scenario.Reported() == Texts{"lost metrics 2"});
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"state 2"});
}

TEST_CASE("a promise behind the runner that is kept already, or on its way, is not lost") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(2).Save(9)});
  scenario.RunInto(5);
  scenario.Reported();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(2).Save(9)});
  CHECK(scenario.Reported().empty());
  scenario.AnswerSave();
  scenario.FinishUpload();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(3).Both(2).Save(9)});
  CHECK(scenario.Reported() == Texts{"state 2"});
}

TEST_CASE("a state promised at the step that the run stands at is saved, even if it is withdrawn before it was begun") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(3).Save(9)});
  scenario.RunIntoEvaluation();
  scenario.Asked();
  SECTION("and the run goes on") {
    scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(9)});
    scenario.RunInto(4);
    CHECK(scenario.Asked() == Texts{"Save 3", "Train 4"});
  }
  SECTION("and nothing else is owed") {
    scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2)});
    scenario.RunOut();
    CHECK(scenario.Asked() == Texts{"Save 3"});
    CHECK(scenario.Reported() == Texts{"metrics 3 score=0.5", "trained n1 0-3", "ended 3 saving 3"});
  }
}

TEST_CASE("a promise that was withdrawn while its state was on its way is still lost by its id") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(4);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(9)});
  scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full", true});
  CHECK(scenario.Reported() == Texts{"lost state 2"});
}

TEST_CASE("a withdrawn evaluation is not made") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Evaluate(3).Save(9)});
  scenario.RunInto(3);
  scenario.Asked();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(9)});
  scenario.RunInto(4);
  CHECK(scenario.Asked() == Texts{"Train 4"});
}

TEST_CASE("a run is shortened to what is still needed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(5).Save(9)});
  scenario.RunInto(3);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(5)});
  scenario.RunOut();
  CHECK(scenario.Asked().back() == "Save 5");
  CHECK(scenario.Reported() == Texts{"trained n1 0-5", "ended 5 saving 5"});
}

TEST_CASE("promises that a run can never reach are lost when they are made") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(6).Both(12).Save(0)});
  CHECK(scenario.Reported() == Texts{"lost metrics 12", "lost state 12", "lost state 0"});
  scenario.RunOut();
  CHECK(scenario.saves.size() == 1);
  CHECK(scenario.Reported() == Texts{"trained n1 0-6", "ended 6 saving 6"});
}

TEST_CASE("an evaluation that is barred is not asked for, neither by a promise nor by a period") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Evaluate(3).Save(6).EvaluateEvery(2).Barred(2).Barred(3)});
  CHECK(scenario.Reported() == Texts{"lost metrics 3"});
  scenario.RunOut();
  const Texts expected{"Init lr=0.1 seed=7", "Setup lr=0.1", "Train 1", "Train 2",  "Train 3", "Train 4",
                       "Evaluate",           "Train 5",      "Train 6", "Evaluate", "Save 6"};
  CHECK(scenario.Asked() == expected);
}

TEST_CASE("a run all of whose promises are barred evaluations ends without training") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Evaluate(3).Barred(3)});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.Reported() == Texts{"lost metrics 3", "ended 0"});
}

TEST_CASE("the same orders again change nothing") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 9, 0.1).Save(9);
  scenario.Want({run});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(run).Generation(2).Save(2).Save(9)});
  scenario.Asked();
  CHECK(scenario.Reported() == Texts{"lost state 2"});
  scenario.Want({RunBuilder(run).Generation(2).Save(2).Save(9)});
  scenario.Want({RunBuilder(run).Generation(2).Save(2).Save(9)});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.Reported().empty());
}

TEST_CASE("an older generation that comes late changes nothing") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 9, 0.1);
  scenario.Want({RunBuilder(run).Generation(3).Save(9)});
  scenario.RunInto(3);
  scenario.Want({RunBuilder(run).Generation(2).Save(1)});
  CHECK(scenario.Reported().empty());
  CHECK(scenario.Status(1).generation == 3);
}

TEST_CASE("terms that were counted from 0 are taken over") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(0).Save(9)});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
  CHECK(scenario.Status(1).generation == 0);
}

}  // namespace espalier::node
