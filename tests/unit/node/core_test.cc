// Slots, workers, reports and files: what the core does besides the runs' own steps.
#include "tests/unit/node/scenario.h"

namespace espalier::node {

TEST_CASE("the next run begins on the slot's warm worker while the last one's checkpoint is written") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2), RunBuilder(2).Stage(5, 3, 0.2).Save(3)});
  scenario.RunInto(2);
  scenario.Asked();
  scenario.Answer();
  CHECK(scenario.Asked() == Texts{"Save 2", "Init seed=7"});
  CHECK(scenario.Status(1).state == RunState::kSaving);
  CHECK(scenario.Status(2).state == RunState::kTraining);
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "ended 2", "point 2 file"});
  CHECK(scenario.spawned == 1);
}

TEST_CASE("slots train side by side") {
  Scenario scenario(2);
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2), RunBuilder(2).Slot(1).Stage(5, 3, 0.2).Save(3)});
  CHECK(scenario.Asked() == Texts{"Init seed=7", "1: Init seed=7"});
  scenario.Die("", 1);
  CHECK(scenario.Reported() == Texts{"failed crash 1", "lost 1@3", "ended 0"});
  CHECK(scenario.Status(1).state == RunState::kTraining);
}

TEST_CASE("the same desired state again changes nothing") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 9, 0.1).Save(9);
  scenario.Want({run});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(run).Generation(2).Save(2).Save(9)});
  scenario.Asked();
  CHECK(scenario.Reported() == Texts{"lost 2@2"});
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

TEST_CASE("two generations in one step: each is answered with what it asks in vain") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 9, 0.1).Save(9);
  scenario.Want({run});
  scenario.RunInto(5);
  scenario.Want({RunBuilder(run).Generation(2).Save(3).Save(9)});
  scenario.Want({RunBuilder(run).Generation(3).Save(3).Save(5).Save(9)});
  CHECK(scenario.Reported() == Texts{"lost 2@3", "lost 3@3"});
  scenario.Answer();
  CHECK(scenario.saves.size() == 1);
}

TEST_CASE("a run that has ended is not begun again, whatever is asked of it") {
  Scenario scenario;
  const RunBuilder run = RunBuilder(1).Stage(1, 2, 0.1);
  scenario.Want({RunBuilder(run).Evaluate(2)});
  scenario.RunOut();
  scenario.Asked();
  scenario.Reported();
  scenario.Want({RunBuilder(run).Generation(2).Both(2)});
  CHECK(scenario.Reported() == Texts{"lost 2@2"});
  scenario.Acknowledge();
  scenario.Want({}, 100);
  CHECK_FALSE(scenario.Knows(1));
  scenario.Want({RunBuilder(run).Generation(3).Save(2)}, 100);
  CHECK_FALSE(scenario.Knows(1));
  CHECK(scenario.Asked().empty());
}

TEST_CASE("reports are kept in order until they are acknowledged") {
  Outbox outbox;
  for (int i = 1; i <= 3; ++i) CHECK(outbox.Add(RunId{i}, RunEnded{}) == i);
  outbox.Acknowledge(1);
  CHECK(outbox.After(0, 10).size() == 2);
  CHECK(outbox.After(0, 1).at(0).number == 2);
  CHECK(outbox.After(2, 10).at(0).number == 3);
  CHECK_FALSE(outbox.HasReportOf(RunId{1}));
  outbox.Acknowledge(9);
  CHECK(outbox.empty());
  CHECK(outbox.Add(RunId{4}, RunEnded{}) == 4);
}

TEST_CASE("a staged file stays until the report about it is acknowledged, the run's records until all are") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunOut();
  scenario.AnswerSave();
  scenario.FinishUpload();
  CHECK(scenario.deleted.empty());
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)}, 2);
  CHECK(scenario.deleted.empty());
  CHECK(scenario.forgotten.empty());
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)}, 3);
  CHECK(scenario.deleted == Texts{"/staging/1-2.ckpt"});
  CHECK(scenario.forgotten == std::vector{RunId{1}});
  CHECK(scenario.Status(1).state == RunState::kEnded);
  scenario.Want({}, 3);
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

TEST_CASE("a run that makes no sense is refused, and the master is told why") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Slot(3).Stage(1, 2, 0.1).Save(2)});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.Reported() == Texts{"failed trainer 1", "lost 1@2", "ended 0"});
  scenario.Want({RunBuilder(1).Slot(3).Stage(1, 2, 0.1).Save(2)});
  CHECK(scenario.Reported().empty());
}

TEST_CASE("a superseded file is removed once") {
  Scenario scenario;
  const auto remove = [&] {
    for (const Action& action : scenario.core.OnDesired({{}, 0, {"1/2/3-4.ckpt"}}, scenario.now)) {
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
  scenario.Die("no such program");
  CHECK(scenario.spawned == 2);
  scenario.Pass(0.2);
  CHECK(scenario.spawned == 3);
  scenario.Die("no such program");
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

TEST_CASE("what an earlier incarnation left is stored and reported") {
  Scenario scenario;
  PointReached point{
      PlanId{1}, PlanNodeId{2}, Step{3}, "", {}, Seconds(0), StoredCheckpoint{"", 10, "sha", Seconds(0)}};
  const Actions actions = scenario.core.OnLeftOverCheckpoint(RunId{9}, point, "/staging/9-3.ckpt");
  REQUIRE(actions.size() == 1);
  CHECK(std::get<UploadFile>(actions[0]).name == "1/2/3-9.ckpt");
  scenario.core.OnUploadFinished(std::get<UploadFile>(actions[0]).upload, "", scenario.now);
  const std::vector<PathStage> path{{PlanNodeId{2}, Step{0}, Step{5}, {}, ""}};
  CHECK(scenario.core.OnLeftOverRun(RunId{9}, path, "9 1 0.5\n9 2 0.5\n9 3").empty());
  CHECK(scenario.Reported() == Texts{"point 3 file", "trained n2 0-2"});
  scenario.Acknowledge();
  CHECK(scenario.deleted == Texts{"/staging/9-3.ckpt"});
  CHECK(scenario.forgotten == std::vector{RunId{9}});
}

}  // namespace espalier::node
