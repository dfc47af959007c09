// States between the worker and the store: the most needed first, a few at a time, tried again, and no more than there
// is room for.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

// Trains to `end` of node 1, and owes the state there and at each step that is given.
RunBuilder Owing(std::int64_t id, std::int64_t end) { return RunBuilder(id).Stage(1, end, 0.1); }

std::vector<std::int64_t> StepsOf(const std::deque<UploadFile>& uploads) {
  std::vector<std::int64_t> steps;
  for (const UploadFile& upload : uploads) steps.push_back(upload.state.point.step.value);
  return steps;
}

using Steps = std::vector<std::int64_t>;

// Trains and saves; the store has not answered for any of the states.
void TrainAndSave(Scenario& scenario, const Order& order) {
  scenario.Want({order});
  const std::size_t saved_before = scenario.saves.size();
  scenario.RunOut();
  for (std::size_t i = saved_before; i < scenario.saves.size(); ++i) scenario.AnswerSave();
}

}  // namespace

TEST_CASE("a few states go into the store at a time, and the next when one is stored") {
  Scenario scenario;
  TrainAndSave(scenario, Owing(1, 6).Save(1).Save(2).Save(3).Save(4).Save(5).Save(6));
  CHECK(StepsOf(scenario.uploads) == Steps{1, 2, 3, 4});
  scenario.FinishUpload();
  CHECK(StepsOf(scenario.uploads) == Steps{2, 3, 4, 5});
  scenario.FinishUpload(RefusedForGood());
  CHECK(StepsOf(scenario.uploads) == Steps{3, 4, 5, 6});
  scenario.FinishUpload(Away());
  CHECK(StepsOf(scenario.uploads) == Steps{4, 5, 6});
}

TEST_CASE("what a claim waits for is stored before branch points, and these before what nothing waits for") {
  Scenario scenario;
  TrainAndSave(scenario, Owing(1, 8)
                             .Save(1)
                             .Save(2)
                             .Save(3)
                             .Save(4)  // these four begin at once
                             .Save(5)
                             .Save(6, Need::kBranch)
                             .Save(7, Need::kClaim)
                             .Save(8, Need::kBranch));
  for (int i = 0; i < 4; ++i) scenario.FinishUpload();
  CHECK(StepsOf(scenario.uploads) == Steps{7, 6, 8, 5});
}

TEST_CASE("a state that has become needed meanwhile is stored before the others") {
  Scenario scenario;
  RunBuilder run = Owing(1, 7).Save(1).Save(2).Save(3).Save(4).Save(5).Save(6).Save(7);
  TrainAndSave(scenario, run);
  scenario.Want({run.Generation(2).Save(5).Save(6, Need::kClaim).Save(7)});
  scenario.FinishUpload();
  scenario.FinishUpload();
  CHECK(StepsOf(scenario.uploads) == Steps{3, 4, 6, 5});
}

TEST_CASE("once the store takes one state, all that wait are tried, whatever their pauses; so are fetches") {
  Scenario scenario;
  TrainAndSave(scenario, Owing(1, 3).Save(1).Save(2).Save(3));
  scenario.FetchFails(ErrorCode::kUnavailable);
  scenario.Want({Owing(1, 3).Save(1).Save(2).Save(3), RunBuilder(2).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9)});
  for (int i = 0; i < 5; ++i) {
    while (!scenario.uploads.empty()) scenario.FinishUpload(Away());
    scenario.Pass(60);
  }
  CHECK(StepsOf(scenario.uploads) == Steps{1, 2, 3});
  scenario.FinishUpload(Away());
  scenario.FinishUpload(Away());
  scenario.FetchSucceeds();
  const int fetches_before = scenario.fetch_count;
  scenario.FinishUpload();
  CHECK(StepsOf(scenario.uploads) == Steps{1, 2});
  CHECK(scenario.fetch_count == fetches_before + 1);
}

TEST_CASE("a store without room is told of each time that it does not take a state") {
  Scenario scenario;
  TrainAndSave(scenario, Owing(1, 2).Save(1).Save(2));
  scenario.Reported();
  scenario.FinishUpload(Full());
  CHECK(scenario.Reported() == Texts{"full for 100"});
  scenario.FinishUpload(Away());
  CHECK(scenario.Reported().empty());
  CHECK(scenario.uploads.empty());
  scenario.Pass(10);
  CHECK(StepsOf(scenario.uploads) == Steps{1, 2});
  scenario.FinishUpload(Full());
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"full for 100", "state 2"});
  CHECK(scenario.core.Trouble() == "checkpoints wait in staging: no space left");
}

TEST_CASE("a run waits before its next save as long as staging has no room for it, and says so") {
  Scenario scenario(1, 250);  // bytes; a state has 100
  scenario.Want({Owing(1, 5).Save(1).Save(2).Save(3).Save(4).Both(5)});
  for (int i = 0; i < 2; ++i) {
    scenario.RunInto(i + 2);
    scenario.AnswerSave();
  }
  scenario.RunOut();
  CHECK(scenario.saves.size() == 2);
  CHECK(scenario.Status(1).step == Step{3});
  CHECK(scenario.Status(1).state == RunStatus::State::kTraining);
  CHECK(scenario.core.Trouble() == "staging is full, and runs wait before their next save");
  scenario.FinishUpload(Away());
  CHECK(scenario.core.Trouble() ==
        "staging is full, and runs wait before their next save; checkpoints wait in staging: the store is away");
  scenario.Pass(100'000);
  CHECK(scenario.saves.size() == 2);

  SECTION("until the master has taken the report of a state that is stored") {
    scenario.FinishUpload();
    scenario.Pass(1);
    CHECK(scenario.saves.size() == 2);
    scenario.Acknowledge();
    scenario.Pass(1);
    CHECK(scenario.saves.size() == 3);
    scenario.FinishUpload();
    scenario.AnswerSave();
    scenario.FinishUpload();
    scenario.Acknowledge();
    scenario.RunInto(5);
    CHECK(scenario.core.Trouble().empty());
    scenario.AnswerSave();
    scenario.RunOut();
    scenario.AnswerSave();
    while (!scenario.uploads.empty()) scenario.FinishUpload();
    CHECK(scenario.Reported() ==
          Texts{"metrics 5 score=0.5", "trained n1 3-5", "ended 5 saving 4 5", "state 4", "state 5"});
  }
  SECTION("or it is ordered no more, and ends") {
    scenario.Want({});
    CHECK(scenario.Reported() == Texts{"trained n1 0-3", "ended 3 saving 1 2"});
    CHECK(scenario.Asked().back() != "Kill");
  }
  SECTION("or its worker dies") {
    scenario.Die();
    CHECK(scenario.Reported() == Texts{"trained n1 0-3", "failed crash 3", "ended 3 saving 1 2"});
  }
}

TEST_CASE("a save that nobody has asked for is left out while staging has no room") {
  Scenario scenario(1, 150);
  scenario.Want({RunBuilder(1).Stage(1, 9, 0.1).SaveEvery(0.15).Evaluate(9)});
  scenario.RunInto(3);
  scenario.AnswerSave();
  scenario.RunOut();
  CHECK(scenario.saves.size() == 1);
  CHECK(scenario.Status(1).step == Step{9});
  CHECK(scenario.core.Trouble().empty());
}

TEST_CASE("a state that is larger than all the room is saved when it is the only one") {
  Scenario scenario(1, 10);
  scenario.Want({Owing(1, 2).Save(1).Save(2)});
  scenario.RunInto(2);
  scenario.AnswerSave();
  scenario.RunOut();
  CHECK(scenario.saves.size() == 1);
  scenario.FinishUpload();
  scenario.Acknowledge();
  scenario.Pass(1);
  CHECK(scenario.saves.size() == 2);
}

TEST_CASE("states that are being written take room, too, as large as their plan's largest") {
  Scenario scenario(2, 250);
  TrainAndSave(scenario, Owing(1, 1).Save(1));
  scenario.Want({Owing(2, 2).Save(1).Save(2), RunBuilder(3).Slot(1).Stage(1, 2, 0.1).Save(1).Save(2)});
  scenario.RunInto(2, 0);  // run 2 writes its state; the first run's is still there
  scenario.RunOut(1);
  CHECK(scenario.saves.size() == 2);
  CHECK(scenario.Status(3).step == Step{1});
  scenario.FinishUpload();
  scenario.Acknowledge();
  scenario.Pass(1);
  CHECK(scenario.saves.size() == 3);
}

TEST_CASE("a preempted run waits for room, and then saves and ends") {
  Scenario scenario(1, 150);
  RunBuilder run = Owing(1, 9).Save(1).Save(9);
  scenario.Want({run});
  scenario.RunInto(2);
  scenario.AnswerSave();
  scenario.Want({run.Generation(2).Save(9).Preempt()});
  scenario.RunOut();
  CHECK(scenario.saves.size() == 1);
  CHECK(scenario.Status(1).step == Step{2});
  scenario.FinishUpload();
  scenario.Acknowledge();
  scenario.Pass(1);
  CHECK(scenario.saves.size() == 2);
  CHECK(scenario.Reported() == Texts{"trained n1 0-2", "ended 2 saving 2"});
}

}  // namespace espalier::node
