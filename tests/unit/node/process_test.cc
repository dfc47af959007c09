// The real node manager, with a pretended master and a worker without torch: what is reported, what is left behind, and
// what a new incarnation makes of it.
#include "tests/unit/node/process_harness.h"
#include "worker/checkpoint/checkpoint_format.h"

namespace espalier::node {
namespace {

struct World {
  TemporaryFolder folder;
  TestMaster master{folder.path() / "master"};

  fs::path Store(const v1::PointReached& point) const { return folder.path() / "store" / point.checkpoint().file(); }
};

// What the whole path gives when nothing happens on the way.
v1::PointReached Undisturbed() {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 0).Stage(1, 20, 0.1).Stage(2, 40, 0.2).Both(40)});
  return world.master.AwaitCheckpoint(1, 40);
}

}  // namespace

TEST_CASE("a run is trained, and its marks are reported with metrics and whole files") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1).Stage(1, 20, 0.1).Stage(2, 40, 0.2).Both(20).Both(40)});
  const v1::PointReached mark = world.master.AwaitCheckpoint(1, 20);
  const v1::PointReached end = world.master.AwaitCheckpoint(1, 40);
  CHECK(mark.plan_node_id() == 1);
  CHECK(end.plan_node_id() == 2);
  CHECK(end.metrics().count("score") == 1);
  CHECK(end.evaluation_digest() == "toy-evaluation-1");
  CHECK(ReadCheckpointFile(world.Store(mark)).has_value());
  CHECK(ReadCheckpointFile(world.Store(end)).has_value());
  CHECK(world.master.AwaitEnd(1).step() == 40);
  CHECK(world.master.StepsTrained(1) == 40);
  CHECK(world.master.Registrations().at(0).trainers(0).name() == "toy");
  world.master.Want({});
  CHECK(Eventually([&] { return FilesUnder(node.work() / "staging").empty(); }));
  CHECK(Eventually([&] { return FilesUnder(node.work() / "steps").empty(); }));
  CHECK(Eventually([&] { return FilesUnder(node.work() / "runs").empty(); }));
}

TEST_CASE("a branch from a live split ends in the same state as the whole path alone") {
  const v1::PointReached alone = Undisturbed();
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 60, 0.1).Both(60)});
  world.master.AwaitStatus(1, [](const v1::RunStatus& status) { return status.training(); });
  const v1::DesiredRun split = ToyRun(1, 20).Stage(1, 60, 0.1).Generation(2).Both(20).Both(60);
  world.master.Want({split});
  const v1::PointReached mark = world.master.AwaitCheckpoint(1, 20);
  world.master.Want({split, ToyRun(2, 0).From(mark, 0.1).Stage(2, 40, 0.2).Both(40)});
  const v1::PointReached branch = world.master.AwaitCheckpoint(2, 40);
  CHECK(branch.checkpoint().state_sha256() == alone.checkpoint().state_sha256());
  CHECK(branch.metrics().at("score") == alone.metrics().at("score"));
}

TEST_CASE("a killed worker is a crash; the run goes on from its mark to the same state") {
  const v1::PointReached alone = Undisturbed();
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 20, 0.1).Stage(2, 400, 0.2).Both(20).Both(400)});
  const v1::PointReached mark = world.master.AwaitCheckpoint(1, 20);
  REQUIRE(node.Workers().size() == 1);
  kill(node.Workers()[0], SIGKILL);
  const v1::Report failed = world.master.Await([](const v1::Report& report) { return report.has_run_failed(); });
  CHECK(failed.run_failed().kind() == v1::RunFailed::KIND_CRASH);
  CHECK(failed.run_failed().step() > 20);
  const v1::RunEnded ended = world.master.AwaitEnd(1);
  CHECK(world.master.StepsTrained(1) >= ended.step());
  world.master.Want({ToyRun(2, 0).From(mark, 0.1).Stage(2, 40, 0.2).Both(40)});
  CHECK(world.master.AwaitCheckpoint(2, 40).checkpoint().state_sha256() == alone.checkpoint().state_sha256());
}

TEST_CASE("a crash is reported with the last lines of the worker's log, whatever bytes they hold") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 1, 3).Stage(1, 20, 0.1).Both(20)});
  const v1::Report failed = world.master.Await([](const v1::Report& report) { return report.has_run_failed(); });
  CHECK(failed.run_failed().step() == 3);
  CHECK(failed.run_failed().message().find("garbage ???? crashing as told") != std::string::npos);
  CHECK(world.master.AwaitEnd(1).step() == 2);
}

TEST_CASE("a node manager killed before its reports were acknowledged: the next one reports what was kept") {
  World world;
  world.master.AcknowledgeNothing();
  std::vector<pid_t> workers;
  {
    NodeProcess node(world.folder.path());
    world.master.Want({ToyRun(1, 20).Stage(1, 400, 0.1).Both(10).Both(400)});
    world.master.AwaitCheckpoint(1, 10);
    workers = node.Workers();
  }
  for (const pid_t pid : workers) CHECK(Eventually([&] { return IsGone(pid); }));
  world.master.Want({});
  world.master.ForgetReports();
  std::ofstream(world.folder.path() / "work" / "staging" / "1-11.ckpt") << "damaged";
  std::ofstream(world.folder.path() / "work" / "staging" / "1-12.ckpt.tmp") << "half";
  NodeProcess node(world.folder.path());
  const v1::PointReached again = world.master.AwaitCheckpoint(1, 10);
  CHECK(again.metrics().count("score") == 1);
  CHECK(ReadCheckpointFile(world.Store(again)).has_value());
  world.master.Await([](const v1::Report& report) { return report.has_steps_trained(); });
  CHECK(world.master.StepsTrained(1) >= 10);
  const auto registrations = world.master.Registrations();
  CHECK(registrations.front().incarnation() != registrations.back().incarnation());
  world.master.AcknowledgeAll();
  CHECK(Eventually([&] { return FilesUnder(node.work() / "staging").empty(); }));
  CHECK(Eventually([&] { return FilesUnder(node.work() / "runs").empty(); }));
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
  if (point == "checkpoint.stored=1")
    CHECK(ReadCheckpointFile(world.Store(world.master.AwaitCheckpoint(1, 5))).has_value());
  world.master.AwaitRegistrations(2);
  CHECK(Eventually([&] { return FilesUnder(node.work() / "staging").empty(); }));
  for (const fs::path& file : FilesUnder(world.folder.path() / "store")) CHECK(file.extension() == ".ckpt");
}

TEST_CASE("SIGTERM saves at the step's end, and leaves no process and no temporary file") {
  World world;
  NodeProcess node(world.folder.path());
  world.master.Want({ToyRun(1, 20).Stage(1, 4000, 0.1).Both(4000)});
  world.master.Await([](const v1::Report& report) { return report.has_steps_trained(); });
  const std::vector<pid_t> workers = node.Workers();
  node.Signal(SIGTERM);
  node.Signal(SIGTERM);
  const int status = node.Wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const v1::RunEnded ended = world.master.AwaitEnd(1);
  CHECK(ReadCheckpointFile(world.Store(world.master.AwaitCheckpoint(1, ended.step()))).has_value());
  for (const pid_t pid : workers) CHECK(IsGone(pid));
  for (const char* folder : {"staging", "steps", "runs", "workers"}) CHECK(FilesUnder(node.work() / folder).empty());
}

TEST_CASE("runs go on while the master is away, and are reported when it is back") {
  World world;
  NodeProcess node(world.folder.path());
  const v1::DesiredRun run = ToyRun(1, 10).Stage(1, 30, 0.1).Both(30);
  world.master.Want({run});
  world.master.AwaitStatus(1, [](const v1::RunStatus& status) { return status.training(); });
  world.master.Stop();
  const fs::path stored = world.folder.path() / "store" / "1" / "1" / "30-1.ckpt";
  CHECK(Eventually([&] { return fs::exists(stored); }));
  world.master.Start();
  CHECK(world.master.AwaitCheckpoint(1, 30).checkpoint().file() == "1/1/30-1.ckpt");
  world.master.AwaitStatus(1, [](const v1::RunStatus& status) { return status.ended(); });
  const auto registrations = world.master.Registrations();
  CHECK(registrations.front().incarnation() == registrations.back().incarnation());
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
