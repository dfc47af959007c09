// How a worker's end for want of memory is told apart from any other.
#include "worker/process/memory_kills.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <optional>

#include "tests/unit/node/process_harness.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_process.h"

namespace espalier::node {

using worker::MemoryKillsHere;
using worker::WorkerDeath;
using worker::WorkerProcess;

namespace {

// A new control group with bounded memory, below this process's own: more than this process needs with a sanitizer.
// Nothing where none can be made.
std::optional<fs::path> BoundedGroup() {
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    const std::size_t memory = line.find(":memory:");
    const bool is_unified = line.starts_with("0::");
    if (memory == std::string::npos && !is_unified) continue;
    const std::string parent = is_unified ? line.substr(3) : "/memory" + line.substr(memory + 8);
    const fs::path group = "/sys/fs/cgroup" + parent + "/espalier-test-" + std::to_string(getpid());
    std::error_code error;
    if (!fs::create_directory(group, error)) continue;
    std::ofstream limit(group / (is_unified ? "memory.max" : "memory.limit_in_bytes"));
    if (limit << (std::int64_t{1} << 29) << std::flush) return group;
    rmdir(group.c_str());
  }
  return std::nullopt;
}

// The cause of death of a worker that this command makes, started in the group by a process of its own.
WorkerDeath::Cause CauseIn(const fs::path& group, const std::string& command) {
  TemporaryFolder folder;
  const pid_t starter = fork();
  if (starter == 0) {
    std::ofstream(group / "cgroup.procs") << getpid() << std::flush;
    auto worker = WorkerProcess::Start({"/bin/sh", "-c", command, "worker"}, folder.path() / "log",
                                       worker::FamilyMark(folder.path(), 1))
                      .value();
    while (!worker->HasEnded()) usleep(1000);
    _exit(static_cast<int>(worker->CauseOfDeath()));
  }
  int status = 0;
  waitpid(starter, &status, 0);
  REQUIRE(WIFEXITED(status));
  return static_cast<WorkerDeath::Cause>(WEXITSTATUS(status));
}

}  // namespace

TEST_CASE("kills for want of memory are counted where the process's group keeps the account, else on the machine") {
  TemporaryFolder root;
  CHECK(MemoryKillsHere(root.path()) == 0);
  Write(root.path() / "proc/vmstat", "nr_free_pages 7\noom_kill 3\n");
  CHECK(MemoryKillsHere(root.path()) == 3);
  SECTION("groups of the first version, which know controllers") {
    Write(root.path() / "proc/self/cgroup", "9:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n");
    Write(root.path() / "sys/fs/cgroup/memory/a/b/memory.oom_control", "under_oom 0\noom_kill 5\n");
    CHECK(MemoryKillsHere(root.path()) == 5);
  }
  SECTION("groups of the second version") {
    Write(root.path() / "proc/self/cgroup", "0::/user.slice/x\n");
    Write(root.path() / "sys/fs/cgroup/user.slice/x/memory.events", "low 0\noom 9\noom_kill 6\noom_group_kill 0\n");
    CHECK(MemoryKillsHere(root.path()) == 6);
  }
  SECTION("a group that keeps none") {
    Write(root.path() / "proc/self/cgroup", "0::/\n");
    CHECK(MemoryKillsHere(root.path()) == 3);
  }
}

TEST_CASE("a worker that the kernel kills for want of memory is told apart from one that others kill") {
  const std::optional<fs::path> group = BoundedGroup();
  if (!group.has_value()) {
    WARN("not run: this process may make no control group with a limit of memory");
    return;
  }
  CHECK(CauseIn(*group, "kill -9 $$") == WorkerDeath::Cause::kKilledByOthers);
  // With a sanitizer its parent may be the larger one: the kernel is told whom to take.
  const std::string greedy = "echo 1000 >/proc/$$/oom_score_adj && exec tail /dev/zero";
  CHECK(CauseIn(*group, greedy) == WorkerDeath::Cause::kOutOfMemory);
  CHECK(CauseIn(*group, "exit 3") == WorkerDeath::Cause::kOwn);
  rmdir(group->c_str());
}

}  // namespace espalier::node
