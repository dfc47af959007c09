// How training ends: at its end, by a preemption, because nobody needs it; and what becomes of its saves.
#include "tests/unit/node/scenario.h"

namespace espalier::node {

TEST_CASE("the end is reported at once when training stops, and names the saves under way") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 3, 0.1).Save(1).Save(2).Save(3)});
  scenario.RunInto(2);
  scenario.AnswerSave();  // written, on its way into the store
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "ended 3 saving 1 2 3"});
  CHECK(scenario.Status(1).state == RunStatus::State::kSaving);
  scenario.FinishUpload();
  for (int i = 0; i < 2; ++i) {
    scenario.AnswerSave();
    scenario.FinishUpload();
  }
  CHECK(scenario.Reported() == Texts{"state 1", "state 2", "state 3"});
  CHECK(scenario.Status(1).state == RunStatus::State::kEnded);
}

TEST_CASE("a state that is stored before the end is not under way any more") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 3, 0.1).Save(1).Evaluate(3)});
  scenario.RunInto(2);
  scenario.AnswerSave();
  scenario.FinishUpload();
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"state 1", "metrics 3 score=0.5", "trained n1 0-3", "ended 3"});
}

TEST_CASE("a preempted run saves at its step's end, and that save is named by the end, which is not delayed by it") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9), RunBuilder(2).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(4);
  scenario.Want(
      {RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(9).Preempt(), RunBuilder(2).Stage(1, 9, 0.1).Save(9)});
  scenario.Asked();
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Save 4", "Init lr=0.1 seed=7"});
  CHECK(scenario.Reported() == Texts{"trained n1 0-4", "ended 4 saving 4"});
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"state 4"});
}

TEST_CASE("a preempted run begins no evaluation, and what it does not reach is lost by its end") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(4).Save(9).EvaluateEvery(1)});
  scenario.RunInto(3);
  scenario.Answer();
  scenario.Answer();  // the evaluation at 3
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(4).Save(9).EvaluateEvery(1).Preempt()});
  scenario.Reported();
  scenario.Asked();
  scenario.RunOut();
  CHECK(scenario.Asked() == Texts{"Save 4"});
  CHECK(scenario.Reported() == Texts{"trained n1 0-4", "ended 4 saving 4"});
}

TEST_CASE("a run preempted before its first step saves nothing") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9)});
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Generation(2).Save(9).Preempt()});
  scenario.RunOut();
  CHECK(scenario.saves.empty());
  CHECK(scenario.Reported() == Texts{"ended 5"});
}

TEST_CASE("a run preempted before it got its slot ends without it") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9), RunBuilder(2).Stage(1, 9, 0.1).Save(9).Preempt()});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
  CHECK(scenario.Reported() == Texts{"ended 0"});
  CHECK(scenario.Status(2).state == RunStatus::State::kEnded);
}

TEST_CASE("a save under way at the end that fails is lost by its promise's id, or by its step if nobody had asked") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(4);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(2).Save(9).Preempt()});
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"trained n1 0-4", "ended 4 saving 2 4"});
  SECTION("in the worker") {
    scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full", true});
    scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full", true});
    CHECK(scenario.Reported() == Texts{"lost state 2", "lost unnamed 4"});
  }
  SECTION("with the worker") {
    scenario.Die();
    CHECK(scenario.Reported() == Texts{"lost state 2", "lost unnamed 4"});
  }
  SECTION("on the way into the store") {
    scenario.AnswerSave();
    scenario.AnswerSave();
    scenario.FinishUpload(RefusedForGood());
    scenario.FinishUpload(RefusedForGood());
    CHECK(scenario.Reported() == Texts{"lost state 2", "lost unnamed 4"});
  }
  SECTION("by the id that the master has given it meanwhile") {
    scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(3).Save(2).Save(4).Preempt()});
    scenario.Die();
    CHECK(scenario.Reported() == Texts{"lost state 2", "lost state 4"});
  }
  CHECK(scenario.Status(1).state == RunStatus::State::kEnded);
  CHECK(scenario.deleted == Texts{"/staging/77-1-2.ckpt", "/staging/77-1-4.ckpt"});
}

TEST_CASE("a periodic save that fails while the run trains is nobody's promise; one under way at the end is named") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Evaluate(6).SaveEvery(0.25)});
  scenario.RunInto(4);
  scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full", true});
  CHECK(scenario.Reported().empty());
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"metrics 6 score=0.5", "trained n1 0-6", "ended 6 saving 6"});
}

TEST_CASE("what a run that has ended is asked for later is not reported: its end has said it") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Save(4)});
  scenario.RunOut();
  scenario.Reported();
  scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Generation(2).Both(2).Save(4)});
  CHECK(scenario.Reported().empty());
  CHECK(scenario.Status(1).generation == 2);
}

TEST_CASE("a run all of whose promises lie behind stops at the end of its step, without a save") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(2)});
  scenario.Answer();
  CHECK(scenario.saves.empty());
  CHECK(scenario.Reported() == Texts{"lost state 2", "trained n1 0-5", "ended 5"});
}

TEST_CASE("a run all of whose promises lie behind does not keep its slot for a long step") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Save(2)});
  scenario.Pass(1.1);
  CHECK(scenario.Asked().back() == "Kill");
}

TEST_CASE("a run that is ordered no more stops at the end of its step, and its begun saves are stored and reported") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(5);
  scenario.Want({});
  CHECK(scenario.Reported().empty());
  scenario.Answer();
  CHECK(scenario.Reported() == Texts{"trained n1 0-5", "ended 5 saving 2"});
  CHECK(scenario.spawned == 1);
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"state 2"});
}

TEST_CASE("what a stopped run measures at last is reported; what goes wrong in its last request is no failure") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Evaluate(3).Save(9)});
  scenario.RunIntoEvaluation();
  scenario.Want({});
  SECTION("it succeeds") {
    scenario.Answer();
    CHECK(scenario.Reported() == Texts{"metrics 3 score=0.5", "trained n1 0-3", "ended 3"});
  }
  SECTION("it fails") {
    scenario.AnswerWith(Failure{FailureKind::kTrainer, "traceback"});
    CHECK(scenario.Reported() == Texts{"trained n1 0-3", "ended 3"});
  }
}

TEST_CASE("a run stopped while it is set up still has the step in its log that was sent along") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.Answer();  // Setup and Train 1 are sent together
  scenario.Want({});
  scenario.Answer();
  CHECK(scenario.Reported().empty());
  scenario.Answer();
  CHECK(scenario.Reported() == Texts{"trained n1 0-1", "ended 1"});
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
  CHECK(scenario.Reported() == Texts{"trained n1 0-4", "ended 4"});
  CHECK(scenario.spawned == 2);
}

TEST_CASE("a worker is killed for being slow to stop only when its begun saves are written, of whatever run") {
  Scenario scenario;
  const bool is_own = GENERATE(true, false);
  CAPTURE(is_own);
  if (is_own) {
    scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
    scenario.RunInto(4);
  } else {
    scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2), RunBuilder(2).Stage(1, 9, 0.1).Save(9)});
    scenario.RunInto(2);
    scenario.Answer();
    scenario.RunInto(4);
  }
  scenario.Want({});
  scenario.Asked();
  scenario.Pass(20);
  CHECK(scenario.Asked().empty());
  SECTION("they are written") { scenario.AnswerSave(); }
  SECTION("this has a bound") { scenario.Pass(12); }
  scenario.Pass(0.1);
  CHECK(scenario.Asked() == Texts{"Kill"});
}

TEST_CASE("the next run begins on the slot's warm worker while the last one's state is written") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2), RunBuilder(2).Stage(5, 3, 0.2).Save(3)});
  scenario.RunInto(2);
  scenario.Asked();
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Save 2", "Init lr=0.2 seed=7"});
  CHECK(scenario.Status(1).state == RunStatus::State::kSaving);
  CHECK(scenario.Status(2).state == RunStatus::State::kTraining);
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "ended 2 saving 2", "state 2"});
  CHECK(scenario.spawned == 1);
}

TEST_CASE("when told to stop, runs save at their step's end, and the node manager quits once all is acknowledged") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9), RunBuilder(2).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  scenario.Stop();
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Save 3");
  scenario.AnswerSave();
  scenario.FinishUpload();
  scenario.Pass(0.1);
  CHECK_FALSE(scenario.quit);
  scenario.Acknowledge();
  scenario.Pass(0.1);
  CHECK(scenario.quit);
}

TEST_CASE("stopping is bounded") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  scenario.Stop();
  scenario.Pass(9);
  CHECK_FALSE(scenario.quit);
  scenario.Pass(2);
  CHECK(scenario.quit);
}

}  // namespace espalier::node
