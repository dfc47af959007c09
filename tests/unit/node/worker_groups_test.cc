// Workers in control groups of their own: those of this machine where the test may make some, else pretended ones, of
// which the files are there.
#include "worker/process/worker_groups.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "tests/unit/node/process_harness.h"
#include "worker/process/control_group.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_process.h"

namespace espalier::node {

using worker::OwnControlGroups;
using worker::WorkerDeath;
using worker::WorkerGroups;
using worker::WorkerProcess;

namespace {

std::string OwnId() { return std::to_string(getpid()); }

std::unique_ptr<WorkerProcess> StartIn(const fs::path& group, const fs::path& folder, const std::string& script,
                                       std::int64_t number = 1) {
  const std::string name = "log-" + std::to_string(number);
  return WorkerProcess::Start({"/bin/sh", "-c", "cd '" + folder.string() + "'; " + script, "worker"}, folder / name,
                              worker::FamilyMark(folder, number), {.control_group = group})
      .value();
}

// Starts a process that leaves all by which it could be found - parent, session, environment, open files - and whose
// id is in the file `gone` of the folder.
constexpr char kDaemon[] =
    "(setsid /usr/bin/env -i /bin/sh -c '/bin/sleep 1000 & echo $! > gone.new; /bin/mv gone.new gone' </dev/null "
    ">/dev/null 2>&1 3>&- &); while [ ! -e gone ]; do :; done; ";

pid_t DaemonOf(const fs::path& folder) {
  REQUIRE(Eventually([&] { return fs::exists(folder / "gone"); }));
  pid_t pid = 0;
  std::ifstream(folder / "gone") >> pid;
  REQUIRE(pid > 0);
  return pid;
}

// A file system whose second version of groups is mounted where Linux has it; this process is in its group /a/b.
struct PretendedGroups {
  TemporaryFolder root;
  const fs::path own = root.path() / "sys/fs/cgroup/a/b";

  PretendedGroups() {
    Write(root.path() / "proc/self/cgroup", "4:memory:/other\n0::/a/b\n");
    Write(root.path() / "proc/self/mountinfo",
          "30 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    Write(own / "cgroup.procs", OwnId() + "\n");
    Write(own / "cgroup.type", "domain\n");
    Write(own / "cgroup.controllers", "cpu memory pids\n");
  }
};

}  // namespace

TEST_CASE("a worker's daemon dies with it, though it has left parent, session, environment and files") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto groups = WorkerGroups::Open("test-" + OwnId());
  if (!groups.has_value()) {
    WARN("not run: " << groups.error().message);
    return;
  }
  TemporaryFolder folder;
  const bool ends_by_itself = GENERATE(false, true);
  CAPTURE(ends_by_itself);
  const fs::path group = (*groups)->Make(1, 0).value();
  auto worker = StartIn(group, folder.path(), kDaemon + std::string(ends_by_itself ? "exit 3" : "sleep 1000"));
  const pid_t daemon = DaemonOf(folder.path());
  CHECK(worker::KillFamily(worker::FamilyMark(folder.path(), 2)) == 0);
  if (!ends_by_itself) worker->Kill();
  REQUIRE(Eventually([&] { return worker->HasEnded(); }));
  CHECK(IsGone(daemon));
  CHECK_FALSE(fs::exists(group));
}

TEST_CASE("what a killed node manager left in groups is killed and removed by the next, and nobody else's is touched") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto living = WorkerGroups::Open("test-living-" + OwnId());
  if (!living.has_value()) {
    WARN("not run: " << living.error().message);
    return;
  }
  TemporaryFolder folder;
  TemporaryFolder other_folder;
  const auto other = StartIn((*living)->Make(1, 0).value(), other_folder.path(), kDaemon + std::string("sleep 1000"));
  const pid_t others_daemon = DaemonOf(other_folder.path());
  const std::string name = "test-killed-" + OwnId();
  const pid_t node_manager = fork();
  if (node_manager == 0) {
    auto groups = WorkerGroups::Open(name).value();
    const auto worker = StartIn(groups->Make(1, 0).value(), folder.path(), kDaemon + std::string("sleep 1000"));
    _exit(pause());
  }
  const pid_t daemon = DaemonOf(folder.path());
  kill(node_manager, SIGKILL);
  waitpid(node_manager, nullptr, 0);
  CHECK_FALSE(IsGone(daemon));
  CHECK(worker::RemoveLeftGroups() >= 1);
  CHECK(IsGone(daemon));
  CHECK_FALSE(fs::exists((*living)->folder().parent_path() / ("espalier-node-" + name)));
  CHECK_FALSE(IsGone(others_daemon));
  CHECK_FALSE(IsGone(other->pid()));
}

TEST_CASE("groups of workers go with their node manager, and those of another in the same group stay") {
  auto first = WorkerGroups::Open("test-first-" + OwnId());
  auto second = WorkerGroups::Open("test-second-" + OwnId());
  if (!first.has_value() || !second.has_value()) {
    WARN("not run: " << first.error().message);
    return;
  }
  const fs::path group = (*first)->Make(1, 0).value();
  const fs::path others_group = (*second)->Make(1, 0).value();
  const fs::path folder = (*first)->folder();
  first->reset();
  CHECK_FALSE(fs::exists(folder));
  CHECK(fs::exists(others_group));
}

TEST_CASE("a worker that cannot enter its group does without, and says so") {
  TemporaryFolder folder;
  auto worker = StartIn(folder.path() / "none", folder.path(), "exit 3");
  REQUIRE(Eventually([&] { return worker->HasEnded(); }));
  CHECK(worker->LastWords().find("exited with status 3") != std::string::npos);
  CHECK(worker->LastWords().find("cannot open its control group: No such file") != std::string::npos);
}

TEST_CASE("a process finds its own group wherever groups of the second version are mounted") {
  const PretendedGroups pretended;
  const fs::path root = pretended.root.path();
  CHECK(OwnControlGroups(root) == std::vector{pretended.own});
  SECTION("a part of them, as in a container that has its own") {
    Write(root / "proc/self/mountinfo",
          "1 0 8:1 / / rw - ext4 /dev/vda rw\n30 23 0:25 /a /groups ro - cgroup2 none rw\n");
    Write(root / "groups/b/cgroup.procs", "1\n" + OwnId() + "\n");
    CHECK(OwnControlGroups(root) == std::vector{root / "groups/b"});
  }
  SECTION("another part of them") {
    Write(root / "proc/self/mountinfo", "30 23 0:25 /aa /groups rw - cgroup2 none rw\n");
    CHECK(OwnControlGroups(root).empty());
  }
  SECTION("what is mounted there is another's") {
    Write(pretended.own / "cgroup.procs", "1\n");
    CHECK(OwnControlGroups(root).empty());
  }
  SECTION("the first version alone") {
    Write(root / "proc/self/mountinfo", "31 30 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw\n");
    CHECK(OwnControlGroups(root).empty());
    CHECK(WorkerGroups::Open("x", root).error().message.find("version 2") != std::string::npos);
  }
}

TEST_CASE("a node manager that may not make groups is told why") {
  const PretendedGroups pretended;
  std::string why;
  SECTION("a folder that it may not make, or not use") {
    Write(pretended.own / "espalier-node-x", "a file in the way");
    why = "cannot lock " + pretended.own.string();
  }
  SECTION("groups of threads") {
    Write(pretended.own / "espalier-node-x/cgroup.type", "domain invalid\n");
    why = "is for threads alone";
  }
  const auto groups = WorkerGroups::Open("x", pretended.root.path());
  CHECK(groups.error().code == ErrorCode::kFailedPrecondition);
  CHECK(groups.error().message.find(why) != std::string::npos);
}

TEST_CASE("a node manager that is alone in its group moves aside, and its workers' memory is limited") {
  const PretendedGroups pretended;
  const auto groups = WorkerGroups::Open("x", pretended.root.path()).value();
  CHECK(groups->why_without_memory().empty());
  const fs::path folder = pretended.own / "espalier-node-x";
  CHECK(groups->folder() == folder);
  CHECK(TextOf(folder / "node-manager/cgroup.procs") == OwnId());
  CHECK(TextOf(pretended.own / "cgroup.subtree_control") == "+memory");
  CHECK(TextOf(folder / "cgroup.subtree_control") == "+memory");
  const fs::path limited = groups->Make(1, 5000000).value();
  CHECK(limited == folder / "worker-1");
  CHECK(TextOf(limited / "memory.max") == "5000000");
  CHECK(TextOf(limited / "memory.swap.max") == "0");
  CHECK(TextOf(limited / "memory.oom.group") == "1");
  const fs::path unlimited = groups->Make(2, 0).value();
  CHECK_FALSE(fs::exists(unlimited / "memory.max"));
  CHECK(TextOf(unlimited / "memory.oom.group") == "1");
  CHECK(groups->Make(2, 0).error().code == ErrorCode::kResourceExhausted);
}

TEST_CASE("the root of all groups has processes beside groups with limits: nothing moves") {
  const PretendedGroups pretended;
  fs::remove(pretended.own / "cgroup.type");
  Write(pretended.own / "cgroup.procs", "1\n" + OwnId() + "\n");
  const auto groups = WorkerGroups::Open("x", pretended.root.path()).value();
  CHECK(groups->why_without_memory().empty());
  CHECK_FALSE(fs::exists(groups->folder() / "node-manager"));
}

TEST_CASE(
    "where workers' memory cannot be limited they have groups all the same, and the node manager stays where it is") {
  const PretendedGroups pretended;
  std::string why;
  bool tries = false;
  SECTION("others are in the group") {
    Write(pretended.own / "cgroup.procs", "1\n" + OwnId() + "\n");
    why = "other processes are in ";
  }
  SECTION("the group is not given the controller") {
    Write(pretended.own / "cgroup.controllers", "cpu pids memory_like\n");
    why = "has no memory controller";
  }
  SECTION("the kernel refuses") {
    fs::create_directory(pretended.own / "cgroup.subtree_control");
    why = "lets no groups have the memory controller: Is a directory";
    tries = true;
  }
  CAPTURE(why);
  const auto groups = WorkerGroups::Open("x", pretended.root.path()).value();
  CHECK(groups->why_without_memory().find(why) != std::string::npos);
  CHECK_FALSE(fs::exists(groups->Make(1, 5000000).value() / "memory.max"));
  const std::string last_moved = TextOf((tries ? pretended.own : groups->folder() / "node-manager") / "cgroup.procs");
  CHECK(last_moved == (tries ? OwnId() : ""));
}

TEST_CASE("where the kernel kills no group in one go, all in it and below it are killed one by one") {
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (const char* group : {"group", "group/below"}) {
    children.push_back(fork());
    if (children.back() == 0) _exit(pause());
    Write(folder.path() / group / "cgroup.procs", "0\n" + std::to_string(children.back()) + "\n");
  }
  worker::SignalGroup(folder.path() / "group");
  for (const pid_t child : children) {
    CHECK(Eventually([&] { return IsGone(child); }));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST_CASE("of two workers that are killed at once, the one is out of memory in whose group the kernel has killed") {
  TemporaryFolder folder;
  Write(folder.path() / "hungry/memory.events", "low 0\noom 2\noom_kill 2\noom_group_kill 1\n");
  Write(folder.path() / "other/memory.events", "low 0\noom 0\noom_kill 0\noom_group_kill 0\n");
  const auto hungry = StartIn(folder.path() / "hungry", folder.path(), "kill -9 $$", 1);
  const auto other = StartIn(folder.path() / "other", folder.path(), "kill -9 $$", 2);
  REQUIRE(Eventually([&] { return hungry->HasEnded() && other->HasEnded(); }));
  CHECK(hungry->CauseOfDeath() == WorkerDeath::Cause::kOutOfMemory);
  CHECK(other->CauseOfDeath() == WorkerDeath::Cause::kKilledByOthers);
}

}  // namespace espalier::node
