#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <ctime>
#include <fstream>
#include <string>

#include "tests/unit/node/process_harness.h"
#include "worker/process/left_shared_memory.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_process.h"

namespace espalier::node {

using worker::FamilyMark;
using worker::KillFamily;
using worker::WorkerProcess;

namespace {

// A worker that starts a child, and one that leaves its group and its parent; their ids are in `folder`. It writes a
// file for itself.
std::vector<std::string> WithChildren(const fs::path& folder, const std::string& then) {
  const std::string script =
      "sleep 1000 & echo $! > child; setsid sh -c 'sleep 1000 & echo $! > gone'; "
      "touch \"$ESPALIER_TEMPORARY/own\" ready; ";
  return {"/bin/sh", "-c", "cd '" + folder.string() + "'; " + script + then, "worker"};
}

pid_t PidIn(const fs::path& file) {
  pid_t pid = 0;
  REQUIRE(Eventually([&] { return static_cast<bool>(std::ifstream(file) >> pid); }));
  return pid;
}

}  // namespace

TEST_CASE(
    "a worker dies with all that it has started, and with its own files, whether it is killed or ends by itself") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  TemporaryFolder folder;
  const std::string mark = FamilyMark(folder.path(), 1);
  const bool ends_by_itself = GENERATE(false, true);
  CAPTURE(ends_by_itself);
  const fs::path temporary = folder.path() / "temporary" / "1";
  auto worker = WorkerProcess::Start(WithChildren(folder.path(), ends_by_itself ? "exit 3" : "sleep 1000"),
                                     folder.path() / "log", mark, {.temporary = temporary})
                    .value();
  REQUIRE(Eventually([&] { return fs::exists(folder.path() / "ready"); }));
  if (!ends_by_itself) CHECK(fs::exists(temporary / "own"));
  const pid_t child = PidIn(folder.path() / "child");
  const pid_t gone = PidIn(folder.path() / "gone");
  if (!ends_by_itself) worker->Kill();
  REQUIRE(Eventually([&] { return worker->HasEnded(); }));
  CHECK(IsGone(child));
  CHECK(IsGone(gone));
  CHECK_FALSE(fs::exists(temporary));
  CHECK(worker->CauseOfDeath() == worker::WorkerDeath::Cause::kOwn);
}

TEST_CASE("a worker leaves signals to stop to its node manager") {
  TemporaryFolder folder;
  auto worker =
      WorkerProcess::Start({"/bin/sh", "-c", "cd '" + folder.path().string() + "'; touch ready; sleep 1000", "worker"},
                           folder.path() / "log", FamilyMark(folder.path(), 1))
          .value();
  REQUIRE(Eventually([&] { return fs::exists(folder.path() / "ready"); }));
  for (const int number : {SIGTERM, SIGINT}) kill(-worker->pid(), number);
  worker->Kill();
  REQUIRE(Eventually([&] { return worker->HasEnded(); }));
  CHECK(worker->LastWords().find("signal Killed") != std::string::npos);
}

TEST_CASE("what an earlier node manager left is found by its work directory, and nobody else's is touched") {
  TemporaryFolder folder;
  const auto start = [&](const std::string& work_directory) {
    const fs::path ready = folder.path() / (work_directory + ".ready");
    auto worker =
        WorkerProcess::Start({"/bin/sh", "-c", "touch '" + ready.string() + "'; sleep 1000; exit 1", "worker"},
                             folder.path() / (work_directory + ".log"), FamilyMark(folder.path() / work_directory, 1))
            .value();
    REQUIRE(Eventually([&] { return fs::exists(ready); }));
    return worker;
  };
  const auto mine = start("a");
  const auto other = start("ab");
  CHECK(KillFamily(FamilyMark(folder.path() / "a", 11)) == 0);
  CHECK(KillFamily(FamilyMark(folder.path() / "a")) >= 1);
  CHECK(IsGone(mine->pid()));
  CHECK_FALSE(IsGone(other->pid()));
}

TEST_CASE("shared memory that a killed process was making goes, and all other files stay") {
  TemporaryFolder folder;
  const auto make = [&](const std::string& name, bool is_old) {
    const int fd = open((folder.path() / name).c_str(), O_RDWR | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    REQUIRE(ftruncate(fd, 32) == 0);
    const std::time_t time = std::time(nullptr) - (is_old ? 10 : 0);
    const timespec times[] = {{time, 0}, {time, 0}};
    REQUIRE(futimens(fd, times) == 0);
    return fd;
  };
  // Process ids end at 2^22.
  const std::string of_the_living = "torch_" + std::to_string(getpid()) + "_3170952196_0";
  for (const std::string& name :
       std::vector<std::string>{"sem.JRRwq1", "sem.mp-ab_0c1d2", "torch_99999999_3170952196_0", "sem.made_by_name",
                                "sem.mp-short", "psm_1234", "torch_extensions", of_the_living}) {
    close(make(name, true));
  }
  close(make("sem.Young1", false));
  const int open_one = make("sem.Opened", true);
  const int mapped = make("sem.Mapped", true);
  void* const memory = mmap(nullptr, 32, PROT_READ, MAP_SHARED, mapped, 0);
  REQUIRE(memory != MAP_FAILED);
  close(mapped);
  CHECK(worker::RemoveLeftSharedMemory(folder.path()) == 3);
  for (const char* name : {"sem.JRRwq1", "sem.mp-ab_0c1d2", "torch_99999999_3170952196_0"}) {
    CHECK_FALSE(fs::exists(folder.path() / name));
  }
  for (const std::string& name :
       std::vector<std::string>{"sem.made_by_name", "sem.mp-short", "psm_1234", "torch_extensions", of_the_living,
                                "sem.Young1", "sem.Opened", "sem.Mapped"}) {
    CHECK(fs::exists(folder.path() / name));
  }
  munmap(memory, 32);
  close(open_one);
  CHECK(worker::RemoveLeftSharedMemory(folder.path()) == 2);
}

}  // namespace espalier::node
