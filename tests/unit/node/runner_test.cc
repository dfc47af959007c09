// What one run asks of its worker, and when: law 1's order, targets that come and go, faults.
#include "tests/unit/node/scenario.h"

namespace espalier::node {

TEST_CASE("a run from scratch is given its initial values, then all others, then its steps one at a time") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  CHECK(scenario.Asked() == Texts{"Init seed=7"});
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
  CHECK(scenario.Asked() == Texts{"Init seed=7", "Setup lr=0.1", "Load /store/file"});
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
  const Texts expected{"Init seed=7", "Setup lr=0.1", "Load /store/file", "Setup lr=2.0",
                       "Train 4",     "Setup lr=2.5", "Train 5"};
  CHECK(scenario.Asked() == expected);
}

TEST_CASE("an undeclared hyper-parameter is set where it has an effect, and to neutral where it has none any more") {
  Scenario scenario;
  const Function warp{Linear{1.0, 0.5}, Step{0}};
  const Function name{Constant{std::string("x")}, Step{0}};
  scenario.Want(
      {RunBuilder(1).Stage(1, 2, 0.1).Undeclared("warp", warp).Stage(2, 4, 0.1).Undeclared("name", name).Save(4)});
  scenario.RunInto(4);
  const Texts expected{"Init seed=7", "Setup lr=0.1 warp=1.0",     "Train 1", "Setup warp=1.5",
                       "Train 2",     "Setup name=\"x\" warp=0.0", "Train 3", "Train 4"};
  CHECK(scenario.Asked() == expected);
}

TEST_CASE("metrics and checkpoint of one step are reported together, once the file is stored") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(3, 2, 0.1).Both(2)});
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"trained n3 0-2", "ended 2"});
  REQUIRE(scenario.saves.size() == 1);
  CHECK(scenario.saves[0].identity.metrics.at("score") == 0.5);
  CHECK(scenario.saves[0].identity.evaluation_digest == "digest");
  CHECK(scenario.saves[0].identity.lineage_digest == "lineage3");
  CHECK(scenario.Status(1).state == RunState::kSaving);
  scenario.AnswerSave();
  CHECK(scenario.Reported().empty());
  REQUIRE(scenario.uploads.size() == 1);
  CHECK(scenario.uploads[0].name == "1/3/2-1.ckpt");
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"point 2 score=0.5 file"});
  CHECK(scenario.Status(1).state == RunState::kEnded);
}

TEST_CASE("a new target ahead of the runner is met as it passes") {
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

TEST_CASE("a target at the step in flight is in time") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  CHECK(scenario.Status(1).step == Step{3});
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(3).Save(9)});
  CHECK(scenario.Reported().empty());
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Train 4");
  CHECK(scenario.saves.size() == 1);
}

TEST_CASE("a target at the very step of a runner that has not begun the next one is in time") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Evaluate(3).Save(9)});
  scenario.RunInto(3);
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Evaluate");
  CHECK(scenario.Status(1).step == Step{3});
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(3).Save(9)});
  scenario.RunInto(4);
  CHECK(scenario.Asked() == Texts{"Save 3", "Train 4"});
}

TEST_CASE("a target behind the runner is lost, and the runner goes on") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(4).Save(9)});
  CHECK(scenario.Reported() == Texts{"lost 2@4"});
  CHECK(scenario.Status(1).state == RunState::kTraining);
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Train 6");
}

TEST_CASE("a target behind the runner whose checkpoint is on its way is not lost") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(2).Save(9)});
  CHECK(scenario.Reported().empty());
  scenario.AnswerSave();
  scenario.FinishUpload();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(3).Save(2).Save(9)});
  CHECK(scenario.Reported() == Texts{"point 2 file"});
}

TEST_CASE("a run is shortened to what is still needed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(5).Save(9)});
  scenario.RunInto(3);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(5)});
  scenario.RunOut();
  CHECK(scenario.Asked().back() == "Save 5");
  CHECK(scenario.Reported() == Texts{"trained n1 0-5", "ended 5"});
}

TEST_CASE("a run all of whose targets lie behind stops at the end of its step, without a save") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(2)});
  scenario.Answer();
  CHECK(scenario.saves.empty());
  CHECK(scenario.Reported() == Texts{"lost 2@2", "trained n1 0-5", "ended 5"});
}

TEST_CASE("a run all of whose targets lie behind does not keep its slot for a long step") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(2)});
  scenario.Pass(1.1);
  CHECK(scenario.Asked().back() == "Kill");
}

TEST_CASE("targets that a run cannot reach any more are lost when they are asked for") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(6).Save(12)});
  CHECK(scenario.Reported() == Texts{"lost 2@12"});
  scenario.RunOut();
  CHECK(scenario.saves.size() == 1);
  CHECK(scenario.Reported() == Texts{"trained n1 0-6", "ended 6"});
}

TEST_CASE("a run that nobody wants any more stops at the end of its step") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({});
  CHECK(scenario.Reported().empty());
  scenario.Answer();
  CHECK(scenario.Reported() == Texts{"trained n1 0-5", "lost 1@9", "ended 5"});
  CHECK(scenario.spawned == 1);
}

TEST_CASE("a worker whose step takes too long to stop is killed, and that is no failure") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({});
  scenario.Asked();
  scenario.Pass(0.9);
  CHECK(scenario.Asked().empty());
  scenario.Pass(0.2);
  CHECK(scenario.Asked() == Texts{"Kill"});
  scenario.Pass(0.2);
  CHECK(scenario.Asked().empty());
  scenario.Die();
  CHECK(scenario.Reported() == Texts{"trained n1 0-4", "lost 1@9", "ended 4"});
  CHECK(scenario.spawned == 2);
}

TEST_CASE("a worker that still writes a checkpoint is not killed for being slow to stop") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(4);
  scenario.Want({});
  scenario.Pass(2);
  CHECK(scenario.Asked().back() == "Train 4");
  scenario.AnswerSave();
  scenario.Pass(0.1);
  CHECK(scenario.Asked().back() == "Kill");
}

TEST_CASE("a preempted run saves at its step's end and reports what it will not reach") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(4);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(9).Preempt()});
  scenario.RunOut();
  CHECK(scenario.Asked().back() == "Save 4");
  CHECK(scenario.Reported() == Texts{"trained n1 0-4", "lost 2@9", "ended 4"});
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"point 4 file"});
}

TEST_CASE("a run preempted before its first step saves nothing") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9)});
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Generation(2).Save(9).Preempt()});
  scenario.RunOut();
  CHECK(scenario.saves.empty());
  CHECK(scenario.Reported() == Texts{"lost 2@9", "ended 5"});
}

TEST_CASE("periods evaluate and save as the run passes and promise nothing") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Save(6).EvaluateEvery(2).SaveEvery(0.35)});
  scenario.RunOut();
  const Texts expected{"Init seed=7", "Setup lr=0.1", "Train 1", "Train 2", "Evaluate", "Train 3", "Train 4",
                       "Evaluate",    "Save 4",       "Train 5", "Train 6", "Evaluate", "Save 6"};
  CHECK(scenario.Asked() == expected);
  scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full"});
  const Texts reported{"point 2 score=0.5", "trained n1 0-6", "ended 6", "point 4 score=0.5"};
  CHECK(scenario.Reported() == reported);
}

TEST_CASE("a run with an empty path evaluates the checkpoint it starts from") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(4, 5, 0.1).Evaluate(5)});
  scenario.RunOut();
  CHECK(scenario.Asked() == Texts{"Init seed=7", "Setup lr=0.1", "Load /store/file", "Evaluate"});
  CHECK(scenario.Reported() == Texts{"point 5 score=0.5", "ended 5"});
  CHECK(scenario.Status(1).state == RunState::kEnded);
}

TEST_CASE("a loss that is not finite is a divergence at its step") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(5).Save(9)});
  scenario.RunInto(3);
  scenario.AnswerWith(Trained{{{"loss", std::numeric_limits<double>::quiet_NaN()}}, Seconds(0)});
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "failed diverged 3", "lost 1@5", "lost 1@9", "ended 3"});
}

TEST_CASE("a metric that is not finite is a divergence at its step") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Both(2)});
  scenario.RunInto(2);
  scenario.Answer();
  scenario.AnswerWith(Evaluated{{{"score", std::numeric_limits<double>::infinity()}}, Seconds(0)});
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "failed diverged 2", "lost 1@2", "ended 2"});
}

TEST_CASE("a trainer's failure ends the run, and late answers to what was asked with it change nothing") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.Answer();
  scenario.AnswerWith(Failure{FailureKind::kTrainer, "traceback"});
  CHECK(scenario.Reported() == Texts{"failed trainer 1", "lost 1@9", "ended 0"});
  scenario.AnswerWith(Failure{FailureKind::kRequest, "needs Init"});
  CHECK(scenario.Reported().empty());
}

TEST_CASE("kinds of failure are told apart") {
  Scenario scenario;
  SECTION("out of memory") {
    scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
    scenario.RunInto(2);
    scenario.AnswerWith(Failure{FailureKind::kOutOfMemory, ""});
    CHECK(scenario.Reported() == Texts{"trained n1 0-1", "failed out of memory 2", "lost 1@9", "ended 1"});
  }
  SECTION("in an evaluation") {
    scenario.Want({RunBuilder(1).Stage(1, 1, 0.1).Evaluate(1)});
    scenario.RunInto(1);
    scenario.Answer();
    scenario.AnswerWith(Failure{FailureKind::kTrainer, ""});
    CHECK(scenario.Reported() == Texts{"trained n1 0-1", "failed evaluation 1", "lost 1@1", "ended 1"});
  }
  SECTION("in loading") {
    scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9)});
    scenario.Answer();
    scenario.Answer();
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, ""});
    CHECK(scenario.Reported() == Texts{"failed checkpoint 5", "lost 1@9", "ended 5"});
  }
  SECTION("the file is not there") {
    scenario.FetchFails("no such file");
    scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9)});
    CHECK(scenario.Asked().empty());
    CHECK(scenario.Reported() == Texts{"failed checkpoint 5", "lost 1@9", "ended 5"});
  }
}

TEST_CASE("a worker's death is a crash with its last words, and another worker is started") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(4);
  scenario.Die("segmentation fault");
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "failed crash 4", "lost 1@2", "lost 1@9", "ended 3"});
  const auto reports = scenario.core.outbox().After(0, 100);
  CHECK(std::get<RunFailed>(reports[1].kind).message == "segmentation fault");
  CHECK(scenario.deleted == Texts{"/staging/1-2.ckpt"});
  CHECK(scenario.spawned == 2);
  CHECK(scenario.Status(1).state == RunState::kEnded);
}

TEST_CASE("a step that takes too long is a hang: the worker is killed, and that is a crash") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9).Hang(5)});
  scenario.RunInto(2);
  scenario.Pass(4);
  CHECK(scenario.Asked().back() == "Train 2");
  scenario.Pass(2);
  CHECK(scenario.Asked().back() == "Kill");
  scenario.Die();
  const Texts reported = scenario.Reported();
  CHECK(std::count(reported.begin(), reported.end(), "failed crash 2") == 1);
}

TEST_CASE("an evaluation without metrics has failed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(2).Save(9)});
  scenario.RunInto(2);
  scenario.Answer();
  scenario.AnswerWith(Evaluated{});
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "failed evaluation 2", "lost 1@2", "lost 1@9", "ended 2"});
}

TEST_CASE("a save that fails costs its promise alone") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(2).Save(9)});
  scenario.RunInto(4);
  SECTION("in the worker") { scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full"}); }
  SECTION("on its way into the store") {
    scenario.AnswerSave();
    scenario.FinishUpload("disk full");
  }
  CHECK(scenario.Reported() == Texts{"point 2 score=0.5", "lost 1@2"});
  CHECK(scenario.deleted == Texts{"/staging/1-2.ckpt"});
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Train 5");
}

TEST_CASE("a save of a run that has ended can still be lost") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Both(2)});
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "ended 2"});
  scenario.Die();
  CHECK(scenario.Reported() == Texts{"point 2 score=0.5", "lost 1@2"});
  CHECK(scenario.Status(1).state == RunState::kEnded);
}

}  // namespace espalier::node
