// Going on with what a run has left in its worker: without Init, and where it stands at the very start, without Load.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

struct Warm : Scenario {
  explicit Warm(worker::Capabilities capabilities = {"proceed", "reload"}) : Scenario(1, 0, std::move(capabilities)) {}

  // Run 1 trains node 1 to step 4, and saves at 2 and 4; all is stored.
  void TrainTrunk() {
    Want({RunBuilder(1).Stage(1, 4, 0.1).Save(2).Save(4)});
    RunOut();
    for (int i = 0; i < 2; ++i) AnswerSave(), FinishUpload();
    Asked();
    Reported();
  }
};

}  // namespace

TEST_CASE("a run that starts where its worker stands goes on without Init or Load, and its file is not looked for") {
  Warm scenario;
  scenario.TrainTrunk();
  scenario.Want({RunBuilder(2).From(1, 4, 0.1, 1).Stage(2, 6, 0.2).Save(6)});
  scenario.RunInto(6);
  CHECK(scenario.Asked() == Texts{"Proceed", "Setup lr=0.2", "Train 5", "Train 6"});
  CHECK(scenario.fetch_count == 0);
  scenario.RunOut();
  CHECK(scenario.Reported() == Texts{"trained n2 4-6", "ended 6 saving 6"});
  CHECK(scenario.Last<RunEnded>().load_time == Seconds(0));
  scenario.AnswerSave();
  scenario.FinishUpload();
  scenario.Asked();
  Order third = RunBuilder(3).From(2, 6, 0.2, 2).Stage(2, 7, 0.2).Save(7);
  third.start->root = Configured(0.1);
  scenario.Want({third});
  CHECK(scenario.Asked() == Texts{"Proceed"});
}

TEST_CASE("a worker that has evaluated a state stands there") {
  Warm scenario;
  scenario.Want({RunBuilder(1).From(1, 4, 0.1).Evaluate(4)});
  scenario.RunOut();
  scenario.Asked();
  scenario.Want({RunBuilder(2).From(1, 4, 0.1).Stage(1, 5, 0.1).Save(5)});
  scenario.RunInto(5);
  CHECK(scenario.Asked() == Texts{"Proceed", "Train 5"});
}

TEST_CASE("a run that starts elsewhere in the same training loads without Init, if its worker can") {
  const bool reloads = GENERATE(false, true);
  Warm scenario(reloads ? worker::Capabilities{"proceed", "reload"} : worker::Capabilities{"proceed"});
  scenario.TrainTrunk();
  scenario.Want({RunBuilder(2).From(1, 2, 0.1, 1).Stage(2, 6, 0.2).Save(6)});
  scenario.RunInto(3);
  Texts expected{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/1/1/1-2-77-1.ckpt", "Setup lr=0.2", "Train 3"};
  if (reloads) expected.front() = "Proceed";
  CHECK(scenario.Asked() == expected);
  CHECK(scenario.fetch_count == 1);
}

TEST_CASE("a run with other values at step 0, or that begins there, is begun from scratch") {
  Warm scenario;
  scenario.TrainTrunk();
  SECTION("other values") {
    scenario.Want({RunBuilder(2).From(3, 2, 0.5).Stage(3, 6, 0.5).Save(6)});
    CHECK(scenario.Asked() == Texts{"Init lr=0.5 seed=7", "Setup lr=0.5", "Load /store/file"});
  }
  SECTION("step 0") {
    scenario.Want({RunBuilder(2).Stage(1, 6, 0.1).Save(6)});
    CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
  }
  SECTION("another evaluation, which the worker was not begun for") {
    Offer other = ToyOffer();
    other.evaluation_digest = "other";
    scenario.Offer({ToyOffer(), other});
    scenario.Want({RunBuilder(2).By(other).From(1, 4, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
    CHECK(scenario.Asked().empty());  // nobody offers it here
  }
}

TEST_CASE("an undeclared value that the last run has left in force is neutral for the next") {
  Warm scenario;
  const Function warp{Constant{2.5}, Step{0}};
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Stage(2, 4, 0.1).Undeclared("warp", warp).Save(2).Save(4)});
  scenario.RunOut();
  for (int i = 0; i < 2; ++i) scenario.AnswerSave(), scenario.FinishUpload();
  scenario.Asked();
  scenario.Want({RunBuilder(2).From(1, 2, 0.1, 1).Stage(3, 6, 0.2).Save(6)});
  scenario.RunInto(3);
  CHECK(scenario.Asked() ==
        Texts{"Proceed", "Setup lr=0.1 warp=0.0", "Load /store/1/1/1-2-77-1.ckpt", "Setup lr=0.2", "Train 3"});
}

TEST_CASE("what a failure has left is not gone on with") {
  Warm scenario;
  SECTION("of the run itself") {
    scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Save(2).Save(4)});
    scenario.RunInto(3);
    scenario.AnswerSave();
    scenario.FinishUpload();
    scenario.AnswerWith(Failure{FailureKind::kTrainer, "traceback"});
  }
  SECTION("of a save that the run has left behind") {
    scenario.Want({RunBuilder(1).Stage(1, 4, 0.1).Save(2).Save(4)});
    scenario.RunOut();
    scenario.AnswerSave();
    scenario.FinishUpload();
    scenario.AnswerSave(Failure{FailureKind::kTrainer, "traceback"});
  }
  scenario.Asked();
  scenario.Want({RunBuilder(2).From(1, 2, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
  CHECK(scenario.Asked().front() == "Init lr=0.1 seed=7");
}

TEST_CASE("where less than Init fails the run begins again, as if nothing had stood there") {
  Warm scenario;
  scenario.TrainTrunk();
  SECTION("at the start") { scenario.Want({RunBuilder(2).From(1, 4, 0.1, 1).Stage(1, 6, 0.1).Save(6)}); }
  SECTION("with answers to come") {
    scenario.Want({RunBuilder(2).From(1, 2, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
    scenario.AnswerWith(Failure{FailureKind::kRequest, "a request came before Init"});
    scenario.AnswerWith(Failure{FailureKind::kRequest, "a request came before Init"});
  }
  SECTION("in Load") {
    scenario.Want({RunBuilder(2).From(1, 2, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
    scenario.Answer();
    scenario.Answer();
  }
  scenario.Asked();
  scenario.AnswerWith(Failure{FailureKind::kRequest, "a request came before Init"});
  const Texts asked = scenario.Asked();
  REQUIRE(asked.size() == 3);
  CHECK(asked.front() == "Init lr=0.1 seed=7");
  CHECK(asked.back().starts_with("Load /store/1/1/1-"));
  CHECK(scenario.Reported().empty());
}

TEST_CASE("a run whose worker has died since fetches its file after all") {
  Warm scenario;
  scenario.TrainTrunk();
  SECTION("before the run was ordered") {
    scenario.Die();
    scenario.Want({RunBuilder(2).From(1, 4, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
  }
  SECTION("as it began") {
    scenario.Want({RunBuilder(2).From(1, 4, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
    scenario.Die();
    scenario.Want({RunBuilder(3).From(1, 4, 0.1, 1).Stage(1, 6, 0.1).Save(6)});
  }
  scenario.Asked();
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/1/1/1-4-77-1.ckpt"});
  CHECK(scenario.fetch_count == 1);
}

}  // namespace espalier::node
