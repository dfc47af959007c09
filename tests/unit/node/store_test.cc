// The checkpoint store as the core sees it: files that are missing or damaged, and a store that is away, which is
// neither.
#include "tests/unit/node/scenario.h"

namespace espalier::node {
namespace {

RunBuilder Resumed(std::int64_t id) { return RunBuilder(id).From(1, 5, 0.1).Stage(1, 9, 0.1).Save(9); }

}  // namespace

TEST_CASE("a start that is missing or damaged is named, and the run ends without having failed") {
  Scenario scenario;
  scenario.FetchFails(ErrorCode::kNotFound);
  scenario.Want({Resumed(1)});
  CHECK(scenario.Asked().empty());
  CHECK(scenario.Reported() == Texts{"start unusable file", "ended 5"});
  CHECK(scenario.Last<StartUnusable>().point == Point{PlanNodeId{1}, Step{5}});
  CHECK(scenario.Last<StartUnusable>().why == "fetching fails");
}

TEST_CASE("a run waits for a store that is away, which is asked again after growing pauses of at most a minute") {
  Scenario scenario;
  scenario.FetchFails(ErrorCode::kUnavailable);
  scenario.Want({Resumed(1)});
  CHECK(scenario.fetch_count == 1);
  scenario.Pass(0.9);
  CHECK(scenario.fetch_count == 1);
  scenario.Pass(0.1);  // after 1 s
  CHECK(scenario.fetch_count == 2);
  scenario.Pass(1.9);
  CHECK(scenario.fetch_count == 2);
  scenario.Pass(0.1);  // after 2 s more
  CHECK(scenario.fetch_count == 3);
  scenario.Pass(1000);
  const int before = scenario.fetch_count;
  scenario.Pass(600);
  CHECK(scenario.fetch_count - before == 10);
  CHECK(scenario.Reported().empty());
  CHECK(scenario.core.Trouble() == "runs wait for their checkpoints: fetching fails");
  CHECK(scenario.Status(1).state == RunStatus::State::kTraining);
  scenario.FetchSucceeds();
  scenario.Pass(61);
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7", "Setup lr=0.1", "Load /store/file"});
}

TEST_CASE("a start's file is kept readable until it is loaded, or until nobody will load it") {
  Scenario scenario;
  scenario.Want({Resumed(1)});
  scenario.Answer();
  scenario.Answer();
  CHECK(scenario.fetched.size() == 1);
  SECTION("it is loaded") {
    scenario.Answer();
    CHECK(scenario.Asked().back() == "Train 6");
  }
  SECTION("the worker dies") { scenario.Die(); }
  SECTION("the load fails, and so does the next") {
    for (int i = 0; i < 2; ++i) {
      scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "stale file handle"});
      CHECK(scenario.fetched.empty() == (i == 1));
      if (i == 0) scenario.Answer(), scenario.Answer();
    }
  }
  SECTION("the load fails, and the store is away") {
    scenario.FetchFails(ErrorCode::kUnavailable);
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "stale file handle"});
  }
  CHECK(scenario.fetched.empty());
}

TEST_CASE("a file that comes when the run is ordered no more is let go at once") {
  Scenario scenario;
  scenario.FetchFails(ErrorCode::kUnavailable);
  scenario.Want({Resumed(1)});
  scenario.Want({});
  const Actions actions = scenario.core.OnCheckpointFetched(Key(1), "/store/file", scenario.now);
  REQUIRE(actions.size() == 1);
  CHECK(std::get<ReleaseCheckpoint>(actions[0]).run == Key(1));
}

TEST_CASE("a run that waits for the store does not keep its slot from another") {
  Scenario scenario;
  scenario.FetchFails(ErrorCode::kUnavailable);
  scenario.Want({Resumed(1), RunBuilder(2).Stage(1, 1, 0.1).Evaluate(1)});
  CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
  scenario.RunOut();
  CHECK(scenario.Status(2).state == RunStatus::State::kEnded);
}

TEST_CASE("a run that waits for the store and is ordered no more ends, and the store is not asked again") {
  Scenario scenario;
  scenario.FetchFails(ErrorCode::kUnavailable);
  scenario.Want({Resumed(1)});
  scenario.Want({});
  CHECK(scenario.Reported() == Texts{"ended 5"});
  scenario.Pass(100);
  CHECK(scenario.fetch_count == 1);
}

TEST_CASE("a state waits in staging for a store that is away, and nothing of it is lost") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunOut();
  scenario.AnswerSave();
  scenario.Reported();
  scenario.FinishUpload(Away());
  scenario.Pass(0.9);
  CHECK(scenario.uploads.empty());
  scenario.Pass(0.1);
  REQUIRE(scenario.uploads.size() == 1);
  CHECK(scenario.uploads[0].staged == "/staging/77-1-2.ckpt");
  scenario.FinishUpload(Away());
  scenario.Pass(1.9);
  CHECK(scenario.uploads.empty());
  for (int i = 0; i < 20; ++i) {
    scenario.Pass(60);
    REQUIRE(scenario.uploads.size() == 1);
    scenario.FinishUpload(Away());
  }
  CHECK(scenario.Reported().empty());
  CHECK(scenario.deleted.empty());
  CHECK(scenario.Status(1).state == RunStatus::State::kSaving);
  scenario.Want({});
  scenario.Pass(60);
  scenario.FinishUpload();
  CHECK(scenario.Reported() == Texts{"state 2"});
  CHECK(scenario.deleted.empty());
  scenario.Acknowledge();
  CHECK(scenario.deleted == Texts{"/staging/77-1-2.ckpt"});
}

TEST_CASE("a node manager that is told to stop leaves in staging what the store does not take") {
  Scenario scenario;
  scenario.Want({RunBuilder(1).Stage(1, 2, 0.1).Save(2)});
  scenario.RunOut();
  scenario.AnswerSave();
  scenario.FinishUpload(Away());
  scenario.Stop();
  scenario.Pass(11);
  CHECK(scenario.quit);
  CHECK(scenario.deleted.empty());
}

TEST_CASE("a load that fails is tried once more, after the file was found whole again") {
  Scenario scenario;
  scenario.Want({Resumed(1)});
  scenario.Answer();
  scenario.Answer();
  scenario.now += Seconds(1);
  SECTION("and succeeds") {
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "stale file handle"});
    CHECK(scenario.fetch_count == 2);
    scenario.RunOut();
    CHECK(scenario.Reported() == Texts{"trained n1 5-9", "ended 9 saving 9"});
    CHECK(scenario.Last<RunEnded>().slot_time.count() == Approx(1.4));
  }
  SECTION("and fails again: the file is of no use") {
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "of another training"});
    scenario.Answer();
    scenario.Answer();
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "of another training"});
    CHECK(scenario.fetch_count == 2);
    CHECK(scenario.Reported() == Texts{"start unusable file", "ended 5"});
    CHECK(scenario.Last<StartUnusable>().why == "of another training");
  }
  SECTION("and the file is damaged by now") {
    scenario.FetchFails(ErrorCode::kNotFound);
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "no such file"});
    CHECK(scenario.Reported() == Texts{"start unusable file", "ended 5"});
  }
  SECTION("and the store is away: the run waits, without its slot") {
    scenario.FetchFails(ErrorCode::kUnavailable);
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "no such file"});
    CHECK(scenario.Reported().empty());
    scenario.Asked();
    scenario.Want({Resumed(1), RunBuilder(2).Stage(1, 1, 0.1).Evaluate(1)});
    CHECK(scenario.Asked() == Texts{"Init lr=0.1 seed=7"});
    scenario.RunOut();
    scenario.FetchSucceeds();
    scenario.Pass(60);
    scenario.Asked();
    scenario.RunOut();
    CHECK(scenario.saves.size() == 1);
  }
}

TEST_CASE("a trainer that cannot load for another reason has failed, whatever its file is like") {
  Scenario scenario;
  scenario.Want({Resumed(1)});
  scenario.Answer();
  scenario.Answer();
  scenario.AnswerWith(Failure{FailureKind::kOutOfMemory, ""});
  CHECK(scenario.Reported() == Texts{"failed out of memory 6", "ended 5"});
  CHECK(scenario.fetch_count == 1);
}

TEST_CASE("a state of other code that a trainer cannot load fails its training, and is no fault of the file") {
  Scenario scenario;
  scenario.Want({Resumed(1).OfOtherCode()});
  for (int i = 0; i < 2; ++i) {
    scenario.Answer();
    scenario.Answer();
    scenario.AnswerWith(Failure{FailureKind::kCheckpoint, "it lacks extra"});
  }
  CHECK(scenario.Last<RunFailed>().kind == RunFailed::Kind::kTrainer);
  CHECK(scenario.Last<RunFailed>().message == "the state that other code left, file, cannot be loaded: it lacks extra");
}

}  // namespace espalier::node
