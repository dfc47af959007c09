// What goes wrong in training, evaluating and saving, and whose failure it is.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a loss that is not finite is a divergence at its step, and the end says that all else is lost") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(5).Save(9)});
  scenario.RunInto(3);
  scenario.AnswerWith(Trained{{{"loss", kNaN}}, Seconds(0)});
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "failed diverged 3", "ended 3"});
  CHECK(scenario.Last<RunFailed>().point == Point{PlanNodeId{1}, Step{3}});
  CHECK(scenario.Last<RunFailed>().message == "loss is not a number");
}

TEST_CASE("a metric of an evaluation that is not finite is its result, and the run goes on") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 3, 0.1).Both(2).Save(3)});
  scenario.RunIntoEvaluation();
  scenario.Asked();
  scenario.AnswerWith(Evaluated{{{"score", -std::numeric_limits<double>::infinity()}}, Seconds(0)});
  REQUIRE(scenario.Reported().size() == 1);
  CHECK(scenario.Last<MetricsMeasured>().metrics.at("score") == -std::numeric_limits<double>::infinity());
  CHECK(scenario.Asked() == Texts{"Save 2", "Train 3"});
}

TEST_CASE("a trainer's failure ends the run, and late answers to what was asked with it change nothing") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.Answer();
  scenario.AnswerWith(Failure{FailureKind::kTrainer, "traceback"});
  CHECK(scenario.Reported() == Texts{"failed trainer 1", "ended 0"});
  CHECK(scenario.Last<RunFailed>().message == "traceback");
  scenario.AnswerWith(Failure{FailureKind::kRequest, "needs Init"});
  CHECK(scenario.Reported().empty());
}

TEST_CASE("memory that did not suffice for a step is told apart") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(2);
  scenario.AnswerWith(Failure{FailureKind::kOutOfMemory, ""});
  CHECK(scenario.Reported() == Texts{"trained n1 0-1", "failed out of memory 2", "ended 1"});
}

TEST_CASE("a fault before a resumed run's first step belongs to that step: the start was trained by others") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(2, 9, 0.2).Save(9)});
  scenario.Answer();
  SECTION("the trainer fails") { scenario.AnswerWith(Failure{FailureKind::kTrainer, "no such optimizer"}); }
  SECTION("the worker dies") { scenario.Die(); }
  CHECK(scenario.Last<RunFailed>().point == Point{PlanNodeId{2}, Step{6}});
  CHECK(scenario.Last<RunEnded>().step == Step{5});
}

TEST_CASE("an answer of the wrong kind is the trainer's failure") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(2);
  scenario.AnswerWith(Evaluated{{{"score", 1.0}}, Seconds(0)});
  CHECK(scenario.Reported() == Texts{"trained n1 0-1", "failed trainer 2", "ended 1"});
}

TEST_CASE("an evaluation that fails with the state intact fails itself alone, and is not asked for again there") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Both(2).Save(4)});
  scenario.RunIntoEvaluation();
  scenario.Asked();
  scenario.AnswerWith(Failure{FailureKind::kTrainer, "traceback", true});
  CHECK(scenario.Reported() == Texts{"evaluation failed trainer 2", "lost metrics 2"});
  CHECK(scenario.Last<EvaluationFailed>().point == Point{PlanNodeId{1}, Step{2}});
  CHECK(scenario.Last<EvaluationFailed>().evaluation == "evaluation");
  CHECK(scenario.Last<EvaluationFailed>().message == "traceback");
  CHECK(scenario.Asked() == Texts{"Save 2", "Train 3"});
  scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Generation(2).Save(2).Save(4).EvaluateEvery(4)});
  scenario.RunIntoEvaluation();
  scenario.AnswerWith(Failure{FailureKind::kOutOfMemory, "", true});
  CHECK(scenario.Reported() == Texts{"evaluation failed out of memory 4", "trained n1 0-4", "ended 4 saving 2 4"});
}

TEST_CASE("an evaluation that leaves no state ends its run, which has not failed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(2).Save(9)});
  scenario.RunIntoEvaluation();
  SECTION("the trainer's error") {
    scenario.AnswerWith(Failure{FailureKind::kTrainer, ""});
    CHECK(scenario.Reported() == Texts{"trained n1 0-2", "evaluation failed trainer 2", "ended 2"});
  }
  SECTION("out of memory") {
    scenario.AnswerWith(Failure{FailureKind::kOutOfMemory, ""});
    CHECK(scenario.Reported() == Texts{"trained n1 0-2", "evaluation failed out of memory 2", "ended 2"});
  }
  SECTION("a crash") {
    scenario.Die({.last_words = "segmentation fault"});
    CHECK(scenario.Reported() == Texts{"trained n1 0-2", "evaluation failed crash 2", "ended 2"});
    CHECK(scenario.Last<EvaluationFailed>().message == "segmentation fault");
  }
  SECTION("a death by others' hand: it was evaluating all the same") {
    scenario.Die({.cause = WorkerDeath::Cause::kKilledByOthers});
    CHECK(scenario.Reported() == Texts{"trained n1 0-2", "evaluation failed crash 2", "ended 2"});
  }
  CHECK(scenario.saves.empty());
}

TEST_CASE("an evaluation that does not return what its trainer declares has failed, and the run goes on") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(2).Save(9)});
  scenario.RunIntoEvaluation();
  SECTION("nothing") { scenario.AnswerWith(Evaluated{}); }
  SECTION("something else") { scenario.AnswerWith(Evaluated{{{"other", 0.5}}, Seconds(0)}); }
  CHECK(scenario.Reported() == Texts{"evaluation failed trainer 2", "lost metrics 2"});
  CHECK(scenario.Last<EvaluationFailed>().message == "the evaluation did not return score");
  CHECK(scenario.Asked().back() == "Train 3");
}

TEST_CASE("whatever goes wrong in a run that only evaluates fails that evaluation, and no training") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).From(4, 5, 0.1).Evaluate(5)});
  SECTION("the trainer, in Init") { scenario.AnswerWith(Failure{FailureKind::kTrainer, ""}); }
  SECTION("the trainer, in Evaluate") {
    scenario.RunIntoEvaluation();
    scenario.AnswerWith(Failure{FailureKind::kTrainer, "", true});
  }
  SECTION("a crash") { scenario.Die(); }
  const Texts reported = scenario.Reported();
  CHECK(reported.front().starts_with("evaluation failed"));
  CHECK(reported.back() == "ended 5");
  CHECK(scenario.Last<EvaluationFailed>().point == Point{PlanNodeId{4}, Step{5}});
  CHECK(scenario.Last<RunFailed>().point == Point{});
}

TEST_CASE("a worker's death is a crash with its last words, and another worker is started") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(4);
  scenario.Die({.last_words = "segmentation fault"});
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "failed crash 4", "ended 3"});
  CHECK(scenario.Last<RunFailed>().message == "segmentation fault");
  CHECK(scenario.deleted == Texts{"/staging/77-1-2.ckpt"});
  CHECK(scenario.spawned == 2);
  CHECK(scenario.Status(1).state == RunStatus::State::kEnded);
}

TEST_CASE("a worker that others have killed is told apart from one that crashed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(4);
  scenario.Die({.cause = WorkerDeath::Cause::kKilledByOthers});
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "failed killed 4", "ended 3"});
}

TEST_CASE("a step of hours that says it gets on is no hang, and one that stops saying so is") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9).Limits({.train = Seconds(600)})});
  scenario.RunInto(1);
  scenario.Asked();
  for (int i = 0; i < 20; ++i) {
    scenario.Pass(599);
    scenario.Beat();
  }
  CHECK(scenario.Asked().empty());
  SECTION("the step ends") {
    scenario.Answer();
    CHECK(scenario.Asked() == Texts{"Train 2"});
  }
  SECTION("nothing more is heard") {
    scenario.Pass(601);
    CHECK(scenario.Asked() == Texts{"Kill"});
    scenario.Die({.last_words = ""});
    CHECK(scenario.Last<RunFailed>().message.starts_with("no answer for 60"));
  }
  CHECK(scenario.spawned <= 2);
}

TEST_CASE("a state that is still being written, as the worker says, is not lost") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9).Limits({.save = Seconds(600)})});
  scenario.RunInto(3);
  scenario.Pass(599);
  scenario.BeatSave();
  scenario.Pass(599);
  CHECK(scenario.Reported() == Texts{"trained n1 0-2"});
  scenario.Pass(2);
  CHECK(scenario.Reported() == Texts{"lost state 2"});
}

TEST_CASE("a worker that takes its time to start may say so") {
  Scenario scenario;
  scenario.Die();
  scenario.Asked();
  for (int i = 0; i < 10; ++i) {
    scenario.Pass(119);
    scenario.Beat();
  }
  CHECK(scenario.Asked().empty());
  scenario.Pass(121);
  CHECK(scenario.Asked() == Texts{"Kill"});
}

TEST_CASE("a worker that nobody needs may take as long to stop as it took to start") {
  Scenario scenario;
  scenario.Die();
  scenario.Pass(7);
  scenario.Answer();
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  scenario.Asked();
  scenario.Want({});
  scenario.Pass(6.5);
  CHECK(scenario.Asked().empty());
  scenario.Pass(1);
  CHECK(scenario.Asked() == Texts{"Kill"});
}

TEST_CASE("a worker that was killed for want of memory ran out of memory") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(4);
  scenario.Die({.cause = WorkerDeath::Cause::kOutOfMemory});
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "failed out of memory 4", "ended 3"});
}

TEST_CASE("a worker that says it is unusable is ended, and the next run gets a fresh one") {
  Scenario scenario;
  const Failure lost{FailureKind::kTrainer, "CUDA error", true, true};
  scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Both(7).Save(9)});
  std::string expected = "failed unusable 6";
  SECTION("in Init") {}
  SECTION("in Load, where it is not the file's fault") {
    scenario.Answer();
    scenario.Answer();
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "CUDA error", false, true});
    CHECK(scenario.Last<StartUnusable>().file.empty());
  }
  SECTION("in a step") { scenario.RunInto(6); }
  SECTION("in an evaluation, however intact it calls its state") {
    scenario.RunIntoEvaluation();
    expected = "evaluation failed unusable 7";
  }
  if (scenario.Last<RunEnded>().step == Step{0}) scenario.AnswerWith(lost);
  const Texts reported = scenario.Reported();
  CHECK(std::find(reported.begin(), reported.end(), expected) != reported.end());
  CHECK(scenario.Asked().back() == "Kill");
  scenario.Die();
  CHECK(scenario.Reported().empty());
  CHECK(scenario.spawned == 2);
}

TEST_CASE("what an unusable worker is still writing is waited for, but not for ever") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(3);
  scenario.Asked();
  scenario.AnswerWith(Failure{FailureKind::kTrainer, "CUDA error", false, true});
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "failed unusable 3", "ended 2 saving 2"});
  CHECK(scenario.Asked().empty());
  scenario.Want({RunBuilder(2).Stage(2, 9, 0.1).Save(9)});
  CHECK(scenario.Asked().empty());
  SECTION("written in time") {
    scenario.AnswerSave();
    scenario.FinishUpload();
    CHECK(scenario.Reported() == Texts{"state 2"});
  }
  SECTION("never written") { scenario.Pass(40); }
  CHECK(scenario.Asked() == Texts{"Kill"});
  scenario.Die();
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Describe", "Init lr=0.1 seed=7"});
}

TEST_CASE("a run that was given a worker which another run finds unusable has not crashed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunOut();
  scenario.Want({RunBuilder(2).Stage(2, 9, 0.1).Save(9)});
  scenario.RunInto(3);
  scenario.AnswerSave(Failure{FailureKind::kTrainer, "CUDA error", false, true});
  CHECK(scenario.Asked().back() == "Kill");
  scenario.Reported();
  scenario.Die();
  CHECK(scenario.Reported() == Texts{"trained n2 0-2", "failed unusable 3", "ended 2"});
}

TEST_CASE("a request that takes longer than its kind's limit is a hang: the worker is killed, and that is a crash") {
  Scenario scenario;
  const RunBuilder from_scratch = RunBuilder(1).Stage(1, 9, 0.1).Evaluate(2).Save(9);
  std::string expected = "failed crash 1";
  SECTION("Init") { scenario.Want({RunBuilder(from_scratch).Limits({.set_up = Seconds(5)})}); }
  SECTION("Setup, sent together with a step") {
    scenario.Want({RunBuilder(from_scratch).Limits({.set_up = Seconds(5), .train = Seconds(1000)})});
    scenario.Pass(4);
    scenario.Answer();
  }
  SECTION("a step") {
    scenario.Want({RunBuilder(from_scratch).Limits({.train = Seconds(5)})});
    scenario.Answer();
    scenario.Pass(100);  // Setup has no limit here
    scenario.Answer();
  }
  SECTION("an evaluation") {
    scenario.Want({RunBuilder(from_scratch).Limits({.train = Seconds(1), .evaluate = Seconds(5)})});
    scenario.RunIntoEvaluation();
    expected = "evaluation failed crash 2";
  }
  SECTION("a load") {
    scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9).Limits({.load = Seconds(5)})});
    scenario.Answer();
    scenario.Pass(100);
    scenario.Answer();
    expected = "failed crash 6";
  }
  scenario.Asked();
  scenario.Pass(4);
  CHECK(scenario.Asked().empty());
  scenario.Pass(2);
  CHECK(scenario.Asked() == Texts{"Kill"});
  scenario.Die({.last_words = "stack"});
  const Texts reported = scenario.Reported();
  CHECK(std::count(reported.begin(), reported.end(), expected) == 1);
  const std::string message = "no answer for 6 s: the worker hung and was killed\nstack";
  CHECK(scenario.Last<RunFailed>().message + scenario.Last<EvaluationFailed>().message == message);
}

TEST_CASE("without a limit nothing is a hang, however long it takes") {
  Scenario scenario;
  const TimeLimits others{.load = Seconds(1), .evaluate = Seconds(1), .save = Seconds(1)};
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9).Limits(others)});
  scenario.RunInto(2);
  scenario.Asked();
  scenario.Pass(12 * 60);
  CHECK(scenario.Asked().empty());
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Train 3"});
}

TEST_CASE("a worker that hangs is killed only when its begun saves are written, and this has a bound") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9).Limits({.train = Seconds(5)})});
  scenario.RunInto(4);
  scenario.Asked();
  scenario.Pass(20);
  CHECK(scenario.Asked().empty());
  SECTION("they are written") { scenario.AnswerSave(); }
  SECTION("the bound") { scenario.Pass(16); }
  scenario.Pass(0.1);
  CHECK(scenario.Asked() == Texts{"Kill"});
}

TEST_CASE("a save that is not written in its time is given up, and costs its promise alone") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(2).Save(9).Limits({.save = Seconds(5)})});
  scenario.RunInto(4);
  scenario.Asked();
  scenario.Pass(4);
  CHECK(scenario.Reported() == Texts{"trained n1 0-3"});
  scenario.Pass(2);
  CHECK(scenario.Reported() == Texts{"lost state 2"});
  CHECK(scenario.Asked().empty());
  scenario.AnswerSave();  // too late
  CHECK(scenario.uploads.empty());
  CHECK(scenario.deleted == Texts{"/staging/77-1-2.ckpt", "/staging/77-1-2.ckpt"});
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Train 5"});
}

TEST_CASE("a worker that writes another file than it said counts as crashed, also after its run has ended") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Both(2).Save(4)});
  const Result<void> wrong = MakeError(ErrorCode::kAborted, "the worker did not write what it said");
  SECTION("while it trains") {
    scenario.RunInto(4);
    scenario.Reported();
    scenario.AnswerSave();
    scenario.FinishUpload(wrong);
    CHECK(scenario.Asked().back() == "Kill");
    CHECK(scenario.Reported() == Texts{"trained n1 0-3", "failed crash 2", "ended 3"});
  }
  SECTION("after its end") {
    scenario.RunInto(4);
    scenario.AnswerSave();
    scenario.FinishUpload();
    scenario.Answer();
    scenario.AnswerSave();
    scenario.Reported();
    scenario.FinishUpload(wrong);
    CHECK(scenario.Reported() == Texts{"failed crash 4", "lost state 4"});
  }
  CHECK(scenario.deleted.size() >= 1);
}

TEST_CASE("a save that cannot be written or stored costs its promise alone") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(2).Save(9)});
  scenario.RunInto(4);
  scenario.Reported();
  SECTION("in the worker") { scenario.AnswerSave(Failure{FailureKind::kCheckpoint, "disk full", true}); }
  SECTION("on its way into the store") {
    scenario.AnswerSave();
    scenario.FinishUpload(RefusedForGood());
  }
  CHECK(scenario.Reported() == Texts{"lost state 2"});
  CHECK(scenario.deleted == Texts{"/staging/77-1-2.ckpt"});
  scenario.Answer();
  CHECK(scenario.Asked().back() == "Train 5");
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Generation(2).Both(2).Save(9)});
  CHECK(scenario.Reported().empty());
}

TEST_CASE("a trainer that cannot give its state fails the run at the point it was to save") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Stage(2, 9, 0.1).Save(2).Save(9)});
  scenario.RunInto(3);
  scenario.AnswerSave(Failure{FailureKind::kTrainer, "traceback"});
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "failed trainer 2", "ended 2"});
  CHECK(scenario.Last<RunFailed>().point == Point{PlanNodeId{1}, Step{2}});
}

TEST_CASE("a trainer that cannot give its last state has failed, too, so that it is not asked for ever") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "ended 2 saving 2"});
  scenario.AnswerSave(Failure{FailureKind::kTrainer, "traceback"});
  CHECK(scenario.Reported() == Texts{"failed trainer 2", "lost state 2"});
}

}  // namespace espalier::node
