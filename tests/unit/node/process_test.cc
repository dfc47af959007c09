// The real node manager, with a pretended master and a worker without torch: what is reported, what is left behind, and
// what a new incarnation makes of it.
#include "tests/unit/node/process_harness.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier::node {
namespace {

struct World {
  TemporaryFolder folder;
  TestMaster master{folder.path() / "master"};

  fs::path Store(const StateStored& stored) const { return folder.path() / "store" / stored.file; }
};

// What the whole path gives when nothing happens on the way.
struct Undisturbed {
  Undisturbed() {
    World world;
    NodeProcess node(world.folder.path());
    world.master.Want({ToyRun(1, 0).Stage(1, 20, 0.1).Stage(2, 40, 0.2).Both(40)});
    metrics = world.master.AwaitMetrics(1, 40).metrics;
    state_sha256 = world.master.AwaitState(1, 40).state_sha256;
  }
  Metrics metrics;
  std::string state_sha256;
};

}  // namespace

TEST_CASE("orders with something that a node manager does not know are not begun, and it says why until it knows all") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.AwaitRegistrations(1);
  world.master.SpeakNewerVersion(true);
  world.master.Want({ToyRun(1).Stage(1, 20, 0.1).Both(20)});
  world.master.AwaitRegistration([](const Registration& registration) {
    return registration.trouble.find("does not know field 9999 of a SynchronizeResponse") != std::string::npos;
  });
  CHECK_FALSE(world.master.HasReportOf(1));
  world.master.SpeakNewerVersion(false);
  world.master.AwaitState(1, 20);
  world.master.AwaitRegistration([](const Registration& registration) { return registration.trouble.empty(); });
}

TEST_CASE("a node manager that the master does not take stops what it trains, and tries again until it is taken") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 1'000'000, 0.1).Both(1'000'000)});
  world.master.AwaitStatus(1, RunStatus::State::kTraining);
  const std::size_t before = world.master.Registrations().size();
  world.master.RefuseBecause("the server 'test' is another's");
  world.master.AwaitRegistrations(before + 2);
  world.master.AwaitStatus(1, RunStatus::State::kEnded);
  world.master.Want({ToyRun(2).Stage(1, 20, 0.1).Both(20)});
  world.master.RefuseBecause("");
  world.master.AwaitState(2, 20);
}

TEST_CASE("a run is trained, and its marks are reported with metrics and whole files") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1).Stage(1, 20, 0.1).Stage(2, 40, 0.2).Both(20).Both(40)});
  const StateStored mark = world.master.AwaitState(1, 20);
  const StateStored end = world.master.AwaitState(1, 40);
  CHECK(mark.point.node == PlanNodeId{1});
  CHECK(end.point.node == PlanNodeId{2});
  CHECK(end.lineage == DigestOf("2"));
  CHECK(world.master.AwaitMetrics(1, 40).metrics.count("score") == 1);
  CHECK(world.master.AwaitMetrics(1, 40).evaluation == "toy-evaluation-1");
  CHECK(ReadCheckpointFile(world.Store(mark)).has_value());
  CHECK(ReadCheckpointFile(world.Store(end)).has_value());
  CHECK(world.master.Await<RunEnded>(1).step == Step{40});
  CHECK(world.master.StepsTrainedBy(1) == 40);
  CHECK(world.master.Registrations().at(0).offers.at(0).offer.trainer == "toy");
  CHECK(world.master.Registrations().at(0).offers.at(0).device_kind == "toy-device");
  world.master.Want({});
  CHECK(Eventually([&] { return FilesUnder(node.work() / "staging").empty(); }));
  CHECK(Eventually([&] { return FilesUnder(node.work() / "steps").empty(); }));
  CHECK(Eventually([&] { return FilesUnder(node.work() / "steps").empty(); }));
}

TEST_CASE("a branch from a live split ends in the same state as the whole path alone") {
  const Undisturbed alone;
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 60, 0.1).Both(60)});
  world.master.AwaitStatus(1, RunStatus::State::kTraining);
  const Order split = ToyRun(1, 20).Stage(1, 60, 0.1).Generation(2).Both(20).Both(60);
  world.master.Want({split});
  const StateStored mark = world.master.AwaitState(1, 20);
  world.master.Want({split, ToyRun(2, 0).From(mark, 0.1).Stage(2, 40, 0.2).Both(40)});
  CHECK(world.master.AwaitState(2, 40).state_sha256 == alone.state_sha256);
  CHECK(world.master.AwaitMetrics(2, 40).metrics == alone.metrics);
}

TEST_CASE("a worker that others kill is said to be killed; the run goes on from its mark to the same state") {
  const Undisturbed alone;
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 20, 0.1).Stage(2, 400, 0.2).Both(20).Both(400)});
  const StateStored mark = world.master.AwaitState(1, 20);
  REQUIRE(node.Workers().size() == 1);
  kill(node.Workers()[0], SIGKILL);
  const auto failed = world.master.Await<RunFailed>(1);
  CHECK(failed.kind == RunFailed::Kind::kKilled);
  CHECK(failed.point.step > Step{20});
  CHECK(world.master.StepsTrainedBy(1) >= world.master.Await<RunEnded>(1).step.value);
  world.master.Want({ToyRun(2, 0).From(mark, 0.1).Stage(2, 40, 0.2).Both(40)});
  CHECK(world.master.AwaitState(2, 40).state_sha256 == alone.state_sha256);
}

TEST_CASE("a crash is reported with the last lines of the worker's log, whatever bytes they hold") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 1, 3).Stage(1, 20, 0.1).Both(20)});
  const auto failed = world.master.Await<RunFailed>(1);
  CHECK(failed.kind == RunFailed::Kind::kCrash);
  CHECK(failed.point.step == Step{3});
  CHECK(failed.message.find("garbage ???? crashing as told") != std::string::npos);
  CHECK(world.master.Await<RunEnded>(1).step == Step{2});
}

TEST_CASE("a crash shows what its own run has printed, not what the same worker has for others before") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 1).Stage(1, 9, 0.1).Both(9)});
  world.master.Await<RunEnded>(1);
  world.master.Want({ToyRun(2, 1, 3).Stage(2, 9, 0.1).Both(9)});
  const std::string message = world.master.Await<RunFailed>(2).message;
  CHECK(message.find("crash_at_step 3") != std::string::npos);
  CHECK(message.find("crash_at_step 0") == std::string::npos);
}

TEST_CASE("garbage that a worker calls a checkpoint never reaches the store: it counts as a crash") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1).LyingAt(2).Stage(1, 20, 0.1).Both(2).Both(20)});
  const auto failed = world.master.Await<RunFailed>(1);
  CHECK(failed.kind == RunFailed::Kind::kCrash);
  CHECK(failed.point.step == Step{2});
  CHECK(failed.message.find("foreign") != std::string::npos);
  world.master.Await<RunEnded>(1);
  for (const fs::path& file : FilesUnder(node.store())) CHECK(CheckCheckpointFile(file).has_value());
}

TEST_CASE("an order by an offer that differs in one digest is refused, once") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.AwaitRegistrations(1);
  Offer offer = world.master.Registrations().at(0).offers.at(0).offer;
  offer.code_digest = "toy-2";
  world.master.Want({ToyRun(1).By(offer).Stage(1, 20, 0.1).Both(20), ToyRun(2).Stage(1, 2, 0.1).Both(2)});
  CHECK(world.master.Await<RunEnded>(1).refused.find("does not offer toy") != std::string::npos);
  world.master.AwaitState(2, 2);
}

TEST_CASE(
    "a node manager killed before its reports were acknowledged: the next one reports the states that were kept") {
  World world;
  world.master.AcknowledgeNothing();
  std::vector<pid_t> workers;
  {
    NodeProcess node(world.folder.path());
    world.master.Want({ToyRun(1, 20).Stage(1, 400, 0.1).Both(10).Both(400)});
    world.master.AwaitState(1, 10);
    workers = node.Workers();
  }
  for (const pid_t pid : workers) CHECK(Eventually([&] { return IsGone(pid); }));
  world.master.Want({});
  world.master.ForgetReports();
  std::ofstream(world.folder.path() / "work" / "staging" / "77-1-11.ckpt") << "damaged";
  std::ofstream(world.folder.path() / "work" / "staging" / "77-1-12.ckpt.tmp") << "half";
  NodeProcess node(world.folder.path());
  const StateStored again = world.master.AwaitState(1, 10);
  CHECK(again.lineage == DigestOf("1"));
  CHECK(again.bytes > 0);
  CHECK(ReadCheckpointFile(world.Store(again)).has_value());
  world.master.Await<StepsTrained>(1);
  CHECK(world.master.StepsTrainedBy(1) >= 10);
  const auto registrations = world.master.Registrations();
  CHECK(registrations.front().incarnation != registrations.back().incarnation);
  world.master.AcknowledgeAll();
  CHECK(Eventually([&] { return FilesUnder(node.work() / "staging").empty(); }));
  CHECK(Eventually([&] { return FilesUnder(node.work() / "steps").empty(); }));
}

TEST_CASE("a node manager killed at a fail-point loses no checkpoint") {
  const std::string point = GENERATE("checkpoint.stored=1", "report.sent=1");
  CAPTURE(point);
  World world;
  world.master.AcknowledgeNothing();
  {
    NodeProcess node(world.folder.path(), point);
    world.master.Want({ToyRun(1).Stage(1, 5, 0.1).Both(5)});
    CHECK(WIFSIGNALED(node.Wait()));
  }
  world.master.Want({});
  world.master.AcknowledgeAll();
  NodeProcess node(world.folder.path());
  if (point == "checkpoint.stored=1") CHECK(ReadCheckpointFile(world.Store(world.master.AwaitState(1, 5))).has_value());
  world.master.AwaitRegistrations(2);
  CHECK(Eventually([&] { return FilesUnder(node.work() / "staging").empty(); }));
  for (const fs::path& file : FilesUnder(node.store())) CHECK(file.extension() == ".ckpt");
}

TEST_CASE("SIGTERM saves at the step's end, is told to the master, and leaves no process and no temporary file") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 4000, 0.1).Both(4000)});
  world.master.Await<StepsTrained>(1);
  const std::vector<pid_t> workers = node.Workers();
  node.Signal(SIGTERM);
  node.Signal(SIGTERM);
  const int status = node.Wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const auto ended = world.master.Await<RunEnded>(1);
  CHECK(ended.saves_under_way == std::vector{ended.step});
  CHECK(ReadCheckpointFile(world.Store(world.master.AwaitState(1, ended.step.value))).has_value());
  CHECK_FALSE(world.master.Registrations().front().draining);
  CHECK(world.master.Registrations().back().draining);  // so that it is given no other run meanwhile
  for (const pid_t pid : workers) CHECK(IsGone(pid));
  for (const char* folder : {"staging", "steps"}) CHECK(FilesUnder(node.work() / folder).empty());
}

TEST_CASE("runs go on while the master is away, and are reported when it is back") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 10).Stage(1, 30, 0.1).Both(30)});
  world.master.AwaitStatus(1, RunStatus::State::kTraining);
  world.master.Stop();
  const fs::path stored = node.store() / "1" / "1" / "1-30-77-1.ckpt";
  CHECK(Eventually([&] { return fs::exists(stored); }));
  world.master.Start();
  CHECK(world.master.AwaitState(1, 30).file == "1/1/1-30-77-1.ckpt");
  CHECK(world.master.AwaitMetrics(1, 30).metrics.count("score") == 1);
  world.master.AwaitStatus(1, RunStatus::State::kEnded);
  const auto registrations = world.master.Registrations();
  CHECK(registrations.front().incarnation == registrations.back().incarnation);
}

TEST_CASE("a store that goes away and comes back costs no state: it waits in staging, and a run waits for its start") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 0).Stage(1, 5, 0.1).Both(5)});
  const StateStored start = world.master.AwaitState(1, 5);
  const fs::path elsewhere = world.folder.path() / "elsewhere";
  fs::rename(node.store(), elsewhere);
  world.master.Want({ToyRun(2, 0).Stage(1, 7, 0.1).Both(7), ToyRun(3, 0).From(start, 0.1).Stage(1, 9, 0.1).Both(9)});
  world.master.AwaitMetrics(2, 7);
  world.master.AwaitStatus(2, RunStatus::State::kSaving);
  const auto is_staged = [](const fs::path& file) { return file.extension() == ".ckpt"; };
  CHECK(Eventually([&] {
    const auto files = FilesUnder(node.work() / "staging");
    return files.size() == 1 && is_staged(files.front());
  }));
  CHECK_FALSE(fs::exists(node.store()));
  CHECK_FALSE(world.master.HasReportOf(3));
  fs::rename(elsewhere, node.store());
  CHECK(ReadCheckpointFile(world.Store(world.master.AwaitState(2, 7))).has_value());
  CHECK(ReadCheckpointFile(world.Store(world.master.AwaitState(3, 9))).has_value());
}

TEST_CASE("what goes on in a process that has trained, where it stands or from before, is the same as alone") {
  const Undisturbed alone;
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 0).Stage(1, 20, 0.1).Both(20)});
  const StateStored trunk = world.master.AwaitState(1, 20);
  world.master.Await<RunEnded>(1);
  const std::vector<pid_t> workers = node.Workers();
  for (const std::int64_t run : {2, 3}) {
    world.master.Want({ToyRun(run, 0).From(trunk, 0.1).Stage(run, 40, 0.2).Both(40)});
    CHECK(world.master.AwaitState(run, 40).state_sha256 == alone.state_sha256);
    const RunEnded ended = world.master.Await<RunEnded>(run);
    CHECK(world.master.AwaitMetrics(run, 40).metrics == alone.metrics);
    CHECK((ended.load_time > Seconds(0)) == (run == 3));
    CHECK(ended.set_up_time == Seconds(0));
    CHECK(world.master.StepsTrainedBy(run) == 20);
  }
  CHECK(node.Workers() == workers);
}

TEST_CASE("a start whose file is damaged is named") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 0).Stage(1, 9, 0.1).Both(5).Both(9)});
  const StateStored start = world.master.AwaitState(1, 5);
  world.master.Await<RunEnded>(1);
  fs::resize_file(world.Store(start), 20);
  world.master.Want({ToyRun(2, 0).From(start, 0.1).Stage(1, 9, 0.1).Both(9)});
  const auto unusable = world.master.Await<StartUnusable>(2);
  CHECK(unusable.file == start.file);
  CHECK(unusable.point == start.point);
  CHECK(unusable.why.find("damaged") != std::string::npos);
}

TEST_CASE("two node managers cannot share a work directory") {
  World world;
  NodeProcess first(world.folder.path());
  world.master.AwaitRegistrations(1);
  NodeProcess second(world.folder.path());
  const int status = second.Wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

}  // namespace espalier::node
