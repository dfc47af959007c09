// A trainer that ends its training by itself: what it came to is measured and saved where it ended.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

Failure Finished(bool state_intact = true) { return {FailureKind::kFinished, "no better", state_intact}; }

}  // namespace

TEST_CASE("a training that is finished is measured and saved where it stands, and the end says so") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(9)});
  scenario.RunInto(4);
  scenario.Asked();
  scenario.AnswerWith(Finished());
  CHECK(scenario.Asked() == Texts{"Evaluate"});
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Save 3"});
  CHECK(scenario.Reported() == Texts{"metrics 3 score=0.5", "trained n1 0-3", "failed finished 4", "ended 3 saving 3"});
  CHECK(scenario.Last<RunFailed>().point == Point{PlanNodeId{1}, Step{4}});
  CHECK(scenario.Last<RunFailed>().message == "no better");
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"state 3"});
}

TEST_CASE("what is measured and saved already is not measured and saved again") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(3).Both(9)});
  scenario.RunInto(4);
  scenario.Asked();
  scenario.AnswerWith(Finished());
  CHECK(scenario.Asked().empty());
  CHECK(scenario.Reported() == Texts{"metrics 3 score=0.5", "trained n1 0-3", "failed finished 4", "ended 3 saving 3"});
}

TEST_CASE("a training that no longer stands where it was finished begins again, and stops there by itself") {
  const Function halved{Constant{Value{0.2}}, Step{0}};
  const auto finish = [](Scenario& scenario, std::int64_t step, const Failure& failure) {
    scenario.RunInto(step);
    scenario.Asked();
    scenario.AnswerWith(failure);
  };
  SECTION("values were set for the step") {
    Scenario scenario;
    scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Stage(2, 9, halved).Both(9)});
    finish(scenario, 3, Finished());
    CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
    scenario.RunOut();
    CHECK(scenario.Asked() == Texts{"Setup lr=0.1", "Train 1", "Train 2", "Evaluate", "Save 2"});
    CHECK(scenario.Reported() ==
          Texts{"metrics 2 score=0.5", "trained n1 0-2", "trained n1 0-2", "failed finished 3", "ended 2 saving 2"});
    CHECK(scenario.Last<RunFailed>().point == Point{PlanNodeId{2}, Step{3}});
  }
  SECTION("its process does not keep it") {
    Scenario scenario;
    scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(9)});
    finish(scenario, 2, Finished(/*state_intact=*/false));
    CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
    scenario.RunOut();
    CHECK(scenario.Asked() == Texts{"Setup lr=0.1", "Train 1", "Evaluate", "Save 1"});
  }
  SECTION("it was loaded: then from the same file, which is fetched again, and not saved once more") {
    Scenario scenario;
    scenario.Want({RunBuilder(1).From(1, 5, 0.1).Stage(2, 9, halved).Both(9)});
    finish(scenario, 6, Finished());
    CHECK(scenario.fetch_count == 2);
    CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/file"});
    scenario.RunOut();
    CHECK(scenario.Asked() == Texts{"Evaluate"});
    CHECK(scenario.Reported() == Texts{"metrics 5 score=0.5", "failed finished 6", "ended 5"});
  }
}

TEST_CASE("what a finished training came to is known before it is said to be finished") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(9)});
  scenario.RunInto(4);
  scenario.AnswerWith(Finished());
  SECTION("it is wanted elsewhere: another run goes on from its state, and measures") {
    scenario.Want({RunBuilder(1).Generation(2).Stage(1, 9, 0.1).Both(9).Preempt()});
    scenario.Answer();
    CHECK(scenario.Reported() ==
          Texts{"metrics 3 score=0.5", "trained n1 0-3", "failed finished 4", "ended 3 saving 3"});
  }
  SECTION("memory did not suffice to measure it: it may suffice another time") {
    scenario.AnswerWith(Failure{FailureKind::kOutOfMemory, "", true});
    CHECK(scenario.Reported() == Texts{"evaluation failed out of memory 3", "trained n1 0-3", "ended 3 saving 3"});
  }
  SECTION("it cannot be measured") {
    scenario.AnswerWith(Failure{FailureKind::kTrainer, "no such file", true});
    CHECK(scenario.Reported() ==
          Texts{"evaluation failed trainer 3", "trained n1 0-3", "failed finished 4", "ended 3 saving 3"});
  }
  SECTION("the worker dies") {
    scenario.Die();
    CHECK(scenario.Reported() == Texts{"trained n1 0-3", "evaluation failed crash 3", "ended 3"});
  }
}

TEST_CASE("a run that is to leave while it goes back to where its training was finished saves what it has") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(9)});
  scenario.RunInto(4);
  scenario.AnswerWith(Finished(/*state_intact=*/false));
  scenario.RunInto(2);
  scenario.Want({RunBuilder(1).Generation(2).Stage(1, 9, 0.1).Both(9).Preempt()});
  scenario.Asked();
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Save 2"});
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "trained n1 0-2", "ended 2 saving 2"});
}

TEST_CASE(
    "a run that would go back, and that nobody here can train any more, is refused with all that it has trained") {
  Scenario scenario(2);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(9)});
  scenario.RunInto(4);
  Offer newer = ToyOffer();
  newer.code_digest = "newer";
  scenario.Offer({newer});
  scenario.Die({.last_words = "killed"}, 1);
  scenario.Answer(1);  // by the next worker there: what it describes
  scenario.AnswerWith(Finished(/*state_intact=*/false));
  CHECK(scenario.Reported() == Texts{"trained n1 0-3", "refused"});
}

TEST_CASE("a training that is finished before its first step has failed") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Both(9)});
  scenario.RunInto(1);
  scenario.AnswerWith(Finished());
  CHECK(scenario.Reported() == Texts{"failed trainer 1", "ended 0"});
}

}  // namespace espalier::node
