// Slots, workers, offers, reports and files: what the core does besides the runs' own steps.
#include "tests/unit/node/scenario.h"
#include "worker/node/core/run_files.h"

namespace espalier::node {

TEST_CASE("slots train side by side") {
  Scenario scenario(2);
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2), RunBuilder(2).Slot(1).Stage(5, 3, 0.2).Save(3)});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "1: Init lr=0.2 seed=7"});
  scenario.Die({}, 1);
  CHECK(scenario.Reported() == Texts{"failed crash 1", "ended 0"});
  CHECK(scenario.Status(1).state == RunStatus::State::kTraining);
}

TEST_CASE("runs of two leaderships are two runs, whatever their ids") {
  Scenario scenario(2);
  Order first = RunBuilder(1).Stage(1, 2, 0.1).Save(2);
  Order second = RunBuilder(1).Slot(1).Stage(1, 3, 0.1).Save(3);
  second.run.leadership = LeadershipId{78};
  scenario.Want({first, second});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "1: Init lr=0.1 seed=7"});
  scenario.RunOut(0);
  scenario.RunOut(1);
  CHECK(scenario.saves.at(0).path == "/staging/77-1-2.ckpt");
  CHECK(scenario.saves.at(1).path == "/staging/78-1-3.ckpt");
  const auto reports = scenario.core.outbox().After(0, 100);
  CHECK(reports.front().run == first.run);
  CHECK(reports.back().run == second.run);
}

TEST_CASE("a run that has ended is not begun again, whatever is asked of it") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 2, 0.1);
  scenario.Want({RunBuilder(run).Evaluate(2)});
  scenario.RunOut();
  scenario.Asked();
  scenario.Reported();
  scenario.Want({RunBuilder(run).Generation(2).Both(2)});
  CHECK(scenario.Reported().empty());
  scenario.Acknowledge();
  scenario.Want({}, 100);
  CHECK_FALSE(scenario.Knows(1));
  scenario.Want({RunBuilder(run).Generation(3).Save(2)}, 100);
  CHECK_FALSE(scenario.Knows(1));
  CHECK(scenario.Asked().empty());
}

TEST_CASE("a run that has ended ends again for a master that has forgotten it, as a restored database does") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 2, 0.1).Evaluate(2);
  scenario.Want({run});
  scenario.RunOut();
  scenario.Asked();
  scenario.Reported();
  scenario.Acknowledge();
  const std::int64_t before = scenario.core.outbox().acknowledged();
  scenario.Want({run}, before);
  CHECK(scenario.Reported() == Texts{"ended 0"});
  scenario.Want({run}, before);
  CHECK(scenario.Reported().empty());
  scenario.Acknowledge();
  scenario.Want({});
  CHECK_FALSE(scenario.Knows(1));
  CHECK(scenario.Asked().empty());
}

TEST_CASE("an order by an offer that this server does not have exactly is refused, and nothing else is said of it") {
  Scenario scenario;
  Offer offer = ToyOffer();
  SECTION("other code") { offer.code_digest = "other"; }
  SECTION("other data") { offer.data_digest = "other"; }
  SECTION("another evaluation") { offer.evaluation_digest = "other"; }
  SECTION("another default") { offer.schema.hyper_parameters[0].default_value = 0.2; }
  SECTION("another trainer") { offer.trainer = "other"; }
  const RunBuilder run = RunBuilder(1).By(offer).Stage(1, 2, 0.1).Save(2);
  scenario.Want({run});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.Reported() == Texts{"refused"});
  scenario.Want({run});
  scenario.Want({RunBuilder(run).Generation(2).Save(1)});
  CHECK(scenario.Reported().empty());
}

TEST_CASE("a run that waits is refused when the slot's next worker does not offer it any more") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).Save(9), RunBuilder(2).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9)});
  scenario.RunInto(2);
  Offer newer = ToyOffer();
  newer.code_digest = "newer";
  scenario.Offer({newer});
  scenario.Die();
  scenario.Reported();
  scenario.Asked();
  scenario.Answer();
  CHECK(scenario.Reported() == Texts{"refused"});
  CHECK(scenario.Last<RunEnded>().step == Step{5});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.core.Offers().at(0).offer == newer);
}

TEST_CASE("once a worker has come with another version, the others are replaced as soon as they are free") {
  Scenario scenario(2);
  Offer newer = ToyOffer();
  newer.code_digest = "newer";
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Evaluate(2)});
  scenario.Offer({newer});
  scenario.Die({}, 1);
  scenario.Asked();
  SECTION("one that trains goes on, and what waits for its slot waits for the next worker") {
    scenario.Answer(1);
    CHECK(scenario.Asked().empty());
    scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Evaluate(2), RunBuilder(2).By(newer).Stage(1, 2, 0.1).Save(2)});
    CHECK(scenario.Reported().empty());
    scenario.RunOut(0);
    CHECK(scenario.Asked().back() == "Kill");
    scenario.Die({}, 0);
    scenario.Asked();
    scenario.Answer(0);
    CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
  }
  SECTION("one that is idle is replaced at once") {
    scenario.RunOut(0);
    scenario.Asked();
    scenario.Answer(1);
    CHECK(scenario.Asked() == Texts{"Kill"});
  }
}

TEST_CASE("an order that makes no sense is refused, and the master is told why") {
  Scenario scenario;
  Order order = RunBuilder(1).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9);
  std::string why;
  SECTION("the slot") {
    order.slot = 3;
    why = "slot: there is no slot 3";
  }
  SECTION("the path") {
    order.path[0].stage.from = Step{6};
    why = "path[0]: is not joined to what comes before it";
  }
  SECTION("nothing to do") {
    order.start.reset();
    order.path.clear();
    why = "path: there is neither a start nor a path";
  }
  SECTION("hyper-parameters of another trainer") {
    order.path[0].configuration = Configuration{{Function{Constant{Value{0.1}}, Step{0}}}};
    why = "path[0].configuration: has another number of hyper-parameters than the offer";
  }
  SECTION("a function that begins too late") {
    order.path[0].configuration =
        Configuration{{Function{Linear{1.0, 0.5}, Step{6}}, Function{Constant{Value{std::int64_t{7}}}, Step{0}}}};
    why = "path[0].configuration: begins after the steps that it is for";
  }
  SECTION("a checkpoint of step 0") {
    order.start->point.step = Step{0};
    why = "start: step 0 has no checkpoint";
  }
  scenario.Want({order});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.fetch_count == 0);
  CHECK(scenario.Reported() == Texts{"refused"});
  CHECK(scenario.Last<RunEnded>().refused == why);
  scenario.Want({order});
  CHECK(scenario.Reported().empty());
}

TEST_CASE("reports are kept in order until they are acknowledged") {
  Outbox outbox;
  for (int i = 1; i <= 3; ++i) CHECK(outbox.Add(Key(i), RunEnded{}) == i);
  outbox.Acknowledge(1);
  CHECK(outbox.After(0, 10).size() == 2);
  CHECK(outbox.After(0, 1).at(0).number == 2);
  CHECK(outbox.After(2, 10).at(0).number == 3);
  CHECK_FALSE(outbox.HasReportOf(Key(1)));
  outbox.Acknowledge(9);
  CHECK(outbox.empty());
  CHECK(outbox.Add(Key(4), RunEnded{}) == 4);
}

TEST_CASE("a staged file stays until the report about it is acknowledged, the run's records until all are") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunOut();
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.deleted.empty());
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)}, 3);
  CHECK(scenario.deleted.empty());
  CHECK(scenario.forgotten.empty());
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)}, 4);
  CHECK(scenario.deleted == Texts{"/staging/77-1-2.ckpt"});
  CHECK(scenario.forgotten == std::vector{Key(1)});
  CHECK(scenario.Status(1).state == RunStatus::State::kEnded);
  scenario.Want({}, 5);
  CHECK_FALSE(scenario.Knows(1));
}

TEST_CASE("steps are reported about every second of training, cut at the plan nodes' borders") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Stage(2, 9, 0.1).Save(9)});
  scenario.Pass(0);
  scenario.RunInto(4);
  CHECK(scenario.Reported().empty());
  scenario.Pass(1);
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "trained n2 2-3"});
  scenario.RunInto(6);
  scenario.Pass(1);
  CHECK(scenario.Reported() == Texts{"trained n2 3-5"});
}

TEST_CASE("a superseded file is removed once") {
  Scenario scenario;
  const auto remove = [&] {
    for (const Action& action : scenario.core.OnOrders({{}, 0, {"1/2/3-4.ckpt"}}, scenario.now)) {
      if (std::holds_alternative<RemoveFromStore>(action)) scenario.removed.push_back("removed");
    }
  };
  remove();
  remove();
  CHECK(scenario.removed.size() == 1);
}

TEST_CASE("a worker that cannot even start is tried again, ever more slowly") {
  Scenario scenario;
  scenario.Die();
  CHECK(scenario.spawned == 2);
  scenario.Die({.last_words = "no such program"});
  CHECK(scenario.spawned == 2);
  scenario.Pass(0.2);
  CHECK(scenario.spawned == 3);
  scenario.Die({.last_words = "no such program"});
  scenario.Pass(0.1);
  CHECK(scenario.spawned == 3);
  scenario.Pass(0.2);
  CHECK(scenario.spawned == 4);
}

TEST_CASE("a worker that never describes itself is killed and started anew") {
  Scenario scenario;
  scenario.Die();
  scenario.Asked();
  scenario.Pass(100);
  CHECK(scenario.Asked().empty());
  scenario.Pass(100);
  CHECK(scenario.Asked() == Texts{"Kill"});
}

TEST_CASE("a worker of another version of the protocol is killed") {
  Scenario scenario;
  scenario.Die();
  scenario.Asked();
  scenario.AnswerWith(Description{2, "kind", {ToyOffer()}});
  CHECK(scenario.Asked() == Texts{"Kill"});
  scenario.Die();
  CHECK(scenario.spawned == 2);
  scenario.Pass(0.2);
  CHECK(scenario.spawned == 3);
}

TEST_CASE("what an earlier incarnation left is stored and reported") {
  Scenario scenario;
  const StateStored state{.plan = PlanId{1},
                          .point = {PlanNodeId{2}, Step{3}},
                          .lineage = LineageOf(2),
                          .bytes = 10,
                          .state_sha256 = "sha"};
  scenario.core.OnLeftOverState(Key(9), state, "/staging/77-9-3.ckpt");
  scenario.Start();
  REQUIRE(scenario.uploads.size() == 1);
  CHECK(scenario.uploads[0].state.file == "1/2/2-3-77-9.ckpt");
  scenario.FinishUpload(Away());
  scenario.Pass(1);
  REQUIRE(scenario.uploads.size() == 1);
  scenario.FinishUpload();
  const std::vector<PathStage> path{{PlanNodeId{2}, Step{0}, Step{5}}};
  CHECK(scenario.core.OnLeftOverRun(Key(9), path, "9 1 0.5\n9 2 0.5\n9 3").empty());
  CHECK(scenario.Reported() == Texts{"state 3", "trained n2 0-2"});
  CHECK(scenario.Last<StateStored>().file == "1/2/2-3-77-9.ckpt");
  CHECK(scenario.Last<StateStored>().lineage == LineageOf(2));
  scenario.Acknowledge();
  CHECK(scenario.deleted == Texts{"/staging/77-9-3.ckpt"});
  CHECK(scenario.forgotten == std::vector{Key(9)});
}

TEST_CASE("a run's name reads back, and nothing else does") {
  CHECK(ParseRunName(RunName(Key(5))) == Key(5));
  for (const char* name : {"", "5", "77-", "-5", "77-5-3", "77-5.log", "77-0", "x-5"}) {
    INFO(name);
    CHECK_FALSE(ParseRunName(name).has_value());
  }
}

}  // namespace espalier::node
