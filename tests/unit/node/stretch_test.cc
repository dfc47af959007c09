// Workers that train many steps at one go, and do not stand at each.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

struct Stretches : Scenario {
  Stretches() : Scenario(1, 0, {"proceed", "reload", "stretches"}) {}

  // Up to the first step: Init and Setup are answered.
  void Begin(const Order& order) {
    Want({order});
    Answer();
    Answer();
  }
};

}  // namespace

TEST_CASE("a worker that trains stretches is told where it is to stand next, and what changes on the way") {
  Stretches scenario;
  scenario.Begin(RunBuilder(1).Stage(1, 2, 0.1).Stage(2, 5, 0.2).Save(4).Both(5));
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Train 1 until 4, at 2 lr=0.2"});
  scenario.GoOn();
  scenario.GoOn();
  scenario.Answer();  // Setup
  scenario.GoOn();
  CHECK(scenario.Asked() == Texts{"Train 2 until 4", "Setup lr=0.2", "Train 3 until 4", "Train 4 until 4"});
  scenario.RunOut();
  CHECK(scenario.Asked() == Texts{"Save 4", "Train 5 until 5", "Evaluate", "Save 5"});
  CHECK(scenario.Reported() == Texts{"metrics 5 score=0.5", "trained n1 0-2", "trained n2 2-5", "ended 5 saving 4 5"});
}

TEST_CASE("one that does not train stretches is told of each step alone") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunInto(2);
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Train 1", "Train 2"});
}

TEST_CASE("a worker that goes on is asked for nothing but steps, and where it stands again for what is owed there") {
  Stretches scenario;
  scenario.Begin(RunBuilder(1).Stage(1, 6, 0.1).Save(6).SaveEvery(0.05).EvaluateEvery(4));
  scenario.Asked();
  scenario.GoOn();
  CHECK(scenario.Asked() == Texts{"Train 2 until 2"});  // a save is due: as soon as it can
  scenario.GoOn();
  scenario.GoOn();
  CHECK(scenario.Asked() == Texts{"Train 3 until 3", "Train 4 until 4"});
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Evaluate"});
}

TEST_CASE("a mark that comes in mid-stretch is told at the next step, and lost where the worker goes on past it") {
  Stretches scenario;
  scenario.Begin(RunBuilder(1).Stage(1, 6, 0.1).Save(6));
  scenario.GoOn();
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Generation(2).Save(4).Save(6)});
  scenario.GoOn();
  scenario.Asked();
  SECTION("it stands there") {
    scenario.GoOn();
    CHECK(scenario.Asked() == Texts{"Train 4 until 4"});
    scenario.Answer();
    CHECK(scenario.Asked() == Texts{"Save 4", "Train 5 until 6"});
  }
  SECTION("it stands before") {
    scenario.Answer();
    CHECK(scenario.Asked() == Texts{"Train 4 until 4"});
  }
  SECTION("it goes on") {
    scenario.GoOn();
    scenario.GoOn();
    CHECK(scenario.Asked() == Texts{"Train 4 until 4", "Train 5 until 6"});
    CHECK(scenario.Reported() == Texts{"lost state 4"});
    scenario.RunOut();
    CHECK(scenario.Asked() == Texts{"Train 6 until 6", "Save 6"});
  }
}

TEST_CASE("a run that is preempted in mid-stretch saves where its worker stands next") {
  Stretches scenario;
  scenario.Begin(RunBuilder(1).Stage(1, 6, 0.1).Save(6));
  scenario.GoOn();
  scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Generation(2).Save(6).Preempt()});
  scenario.Asked();
  scenario.GoOn();
  CHECK(scenario.Asked() == Texts{"Train 3 until 3"});
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Save 3"});
  CHECK(scenario.Reported().back() == "ended 3 saving 3");
}

TEST_CASE("a worker that goes on for nobody is ended") {
  Stretches scenario;
  scenario.Begin(RunBuilder(1).Stage(1, 6, 0.1).Save(6));
  SECTION("nobody needs the run") {
    scenario.Want({});
    scenario.GoOn();
  }
  SECTION("it goes past what was left to do") {
    scenario.Want({RunBuilder(1).Stage(1, 6, 0.1).Generation(2).Save(2)});
    scenario.GoOn();
    scenario.GoOn();
    CHECK(scenario.Reported().back() == "ended 2");
  }
  SECTION("the training has diverged") {
    scenario.AnswerWith(Trained{.metrics = {{"loss", std::numeric_limits<double>::infinity()}}, .goes_on = true});
  }
  CHECK(scenario.Asked().back() == "Kill");
  scenario.Die();
  CHECK(scenario.spawned == 2);
}

TEST_CASE("a worker that says that it goes on where it was to stand is taken to stand there") {
  Stretches scenario;
  scenario.Begin(RunBuilder(1).Stage(1, 2, 0.1).Save(2));
  scenario.GoOn();
  scenario.Asked();
  scenario.GoOn();
  CHECK(scenario.Asked() == Texts{"Save 2"});
}

}  // namespace espalier::node
