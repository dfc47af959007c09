#include "client/cli/up/supervisor.h"

#include <catch2/catch.hpp>

#include "client/cli/up/files.h"
#include "tests/unit/up/processes.h"

namespace espalier {
namespace {

constexpr RestartPolicy kQuick{.first_delay = Seconds(0.01), .longest_delay = Seconds(0.02)};

// A shell script as a program that is ready once it has made the file NAME.ready. It is given its name as $1 and writes
// what happens into the file `journal`.
Program Script(const TestFolder& folder, const std::string& name, const std::string& text) {
  const std::string ready = folder.File(name + ".ready");
  return Program{
      .name = name,
      .command = {.arguments = {"/bin/sh", "-c", "cd \"$0\"; " + text, folder.Path(), name},
                  .log_file = folder.File(name + ".log")},
      .prepare = [ready]() -> Result<void> {
        std::filesystem::remove(ready);
        return {};
      },
      .is_ready = [ready](pid_t) { return std::filesystem::exists(ready); },
  };
}

const std::string kRunUntilStopped =
    "echo start $1 >> journal; trap 'echo stop $1 >> journal; exit' TERM; echo $$ > $1.pid; > $1.ready;"
    "while true; do sleep 100 & wait; done";

// Supervises in a process of its own, which makes the file `ready` when all programs are, and `failure` if it fails.
class Supervision {
 public:
  Supervision(const TestFolder& folder, std::vector<Program> programs)
      : folder_(folder), process_([&folder, programs = std::move(programs)] {
          auto signals = StopSignals::Create();
          Supervisor supervisor(*signals, folder.Path(), programs, kQuick);
          const auto ran = supervisor.Run([&] { return WriteFile(folder.File("ready"), ""); });
          if (!ran.has_value()) static_cast<void>(WriteFile(folder.File("failure"), ran.error().message));
          return ran.has_value() ? 0 : 1;
        }) {}

  bool BecomesReady() const {
    return Eventually([&] { return std::filesystem::exists(folder_.File("ready")); });
  }
  ProcessRecord ProcessOf(const std::string& name) const { return ReadProcessRecord(folder_.File(name)).value(); }
  Forked& Process() { return process_; }

 private:
  const TestFolder& folder_;
  Forked process_;
};

TEST_CASE("programs start in order and stop in the opposite order") {
  TestFolder folder;
  Supervision supervision(folder, {Script(folder, "a", kRunUntilStopped), Script(folder, "b", kRunUntilStopped)});
  REQUIRE(supervision.BecomesReady());
  supervision.Process().Signal(SIGTERM);
  CHECK(supervision.Process().Wait() == 0);
  CHECK(ReadFile(folder.File("journal")) == "start a\nstart b\nstop b\nstop a\n");
  CHECK_FALSE(std::filesystem::exists(folder.File("a")));
}

TEST_CASE("what a program leaves behind when it stops is ended, too") {
  TestFolder folder;
  Supervision supervision(folder, {Script(folder, "a", "sleep 1000 & echo $! > left; > a.ready; exec sleep 1000")});
  REQUIRE(supervision.BecomesReady());
  const auto left = RecordOf(std::stoi(ReadFile(folder.File("left"))));
  REQUIRE(left.has_value());
  supervision.Process().Signal(SIGINT);
  CHECK(supervision.Process().Wait() == 0);
  CHECK_FALSE(IsAlive(*left));
}

TEST_CASE("a program that dies is started again while the others go on") {
  TestFolder folder;
  Supervision supervision(folder, {Script(folder, "a", kRunUntilStopped), Script(folder, "b", kRunUntilStopped)});
  REQUIRE(supervision.BecomesReady());
  const ProcessRecord a = supervision.ProcessOf("a");
  const ProcessRecord b = supervision.ProcessOf("b");
  kill(a.id, SIGKILL);
  REQUIRE(Eventually([&] { return ReadFile(folder.File("journal")) == "start a\nstart b\nstart a\n"; }));
  CHECK(IsAlive(b));
  supervision.Process().Signal(SIGTERM);
  CHECK(supervision.Process().Wait() == 0);
}

TEST_CASE("a program that dies before it was ever ready is given up and its last words are told") {
  TestFolder folder;
  Supervision supervision(folder, {Script(folder, "a", kRunUntilStopped),
                                   Script(folder, "b", "echo no such database; echo start $1 >> journal; exit 7")});
  CHECK(supervision.Process().Wait() == 1);
  CHECK(ReadFile(folder.File("journal")) == "start a\nstart b\nstart b\nstart b\nstop a\n");
  CHECK(ReadFile(folder.File("failure")) ==
        "b does not start (exit status 7), see " + folder.File("b.log") + ": no such database");
}

TEST_CASE("a program that cannot be executed is given up with the reason") {
  TestFolder folder;
  Supervision supervision(folder,
                          {Program{.name = "a",
                                   .command = {.arguments = {"/no/such/program"}, .log_file = folder.File("log")},
                                   .is_ready = [](pid_t) { return false; }}});
  CHECK(supervision.Process().Wait() == 1);
  CHECK(ReadFile(folder.File("failure")).ends_with("cannot /no/such/program: No such file or directory"));
}

TEST_CASE("a second request to stop kills what does not stop") {
  TestFolder folder;
  Program stubborn =
      Script(folder, "a", "trap 'echo asked >> journal' TERM; > a.ready; while true; do sleep 100 & wait; done");
  stubborn.stop_patience = Seconds(3600);
  Supervision supervision(folder, {stubborn});
  REQUIRE(supervision.BecomesReady());
  const ProcessRecord process = supervision.ProcessOf("a");
  supervision.Process().Signal(SIGINT);
  REQUIRE(Eventually([&] { return ReadFile(folder.File("journal")) == "asked\n"; }));
  CHECK(IsAlive(process));
  supervision.Process().Signal(SIGINT);
  CHECK(supervision.Process().Wait() == 0);
  CHECK_FALSE(IsAlive(process));
}

TEST_CASE("a program that does not stop in time is killed") {
  TestFolder folder;
  Program stubborn = Script(folder, "a", "trap '' TERM; > a.ready; while true; do sleep 100; done");
  stubborn.stop_patience = Seconds(0.05);
  Supervision supervision(folder, {stubborn});
  REQUIRE(supervision.BecomesReady());
  const ProcessRecord process = supervision.ProcessOf("a");
  supervision.Process().Signal(SIGTERM);
  CHECK(supervision.Process().Wait() == 0);
  CHECK_FALSE(IsAlive(process));
}

TEST_CASE("when the supervisor is killed its programs die with it") {
  TestFolder folder;
  Supervision supervision(folder, {Script(folder, "a", kRunUntilStopped)});
  REQUIRE(supervision.BecomesReady());
  const ProcessRecord process = supervision.ProcessOf("a");
  supervision.Process().Signal(SIGKILL);
  CHECK(supervision.Process().Wait() == -SIGKILL);
  CHECK(Eventually([&] { return !IsAlive(process); }));
}

TEST_CASE("the next supervisor ends what a killed one recorded, and nothing else") {
  TestFolder folder;
  Forked left_over([] { return pause(); });
  Forked innocent([] { return pause(); });
  const ProcessRecord left = RecordOf(left_over.Id()).value();
  const ProcessRecord other = RecordOf(innocent.Id()).value();
  REQUIRE(WriteProcessRecord(folder.File("a"), left).has_value());
  // The same process id, but another start: a later process that was given the id again.
  REQUIRE(WriteProcessRecord(folder.File("b"), {other.id, other.start_ticks - 1}).has_value());
  Supervision supervision(folder, {Script(folder, "a", kRunUntilStopped), Script(folder, "b", kRunUntilStopped)});
  REQUIRE(supervision.BecomesReady());
  CHECK_FALSE(IsAlive(left));
  CHECK(IsAlive(other));
  supervision.Process().Signal(SIGTERM);
  CHECK(supervision.Process().Wait() == 0);
}

TEST_CASE("a signal that is ignored from the start stops nothing") {
  TestFolder folder;
  signal(SIGHUP, SIG_IGN);  // as nohup does
  Supervision supervision(folder, {Script(folder, "a", kRunUntilStopped)});
  signal(SIGHUP, SIG_DFL);
  REQUIRE(supervision.BecomesReady());
  supervision.Process().Signal(SIGHUP);
  const ProcessRecord process = supervision.ProcessOf("a");
  kill(process.id, SIGKILL);
  CHECK(Eventually([&] { return ReadFile(folder.File("journal")) == "start a\nstart a\n"; }));
  supervision.Process().Signal(SIGTERM);
  CHECK(supervision.Process().Wait() == 0);
}

TEST_CASE("a log that has grown large is moved aside at the next start") {
  TestFolder folder;
  REQUIRE(WriteFile(folder.File("log"), std::string(9 << 20, 'x')).has_value());
  RotateLog(folder.File("log"));
  CHECK_FALSE(std::filesystem::exists(folder.File("log")));
  CHECK(std::filesystem::file_size(folder.File("log.1")) == 9 << 20);
}

}  // namespace
}  // namespace espalier
