// `up` with a real PostgreSQL, and stand-ins for master and node manager.
#include "client/cli/up/up.h"

#include <grp.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "base/log.h"
#include "client/cli/up/files.h"
#include "client/cli/up/process_record.h"
#include "tests/unit/up/processes.h"

namespace espalier {
namespace {

constexpr char kMaster[] = R"script(#!/usr/bin/python3
import re, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(re.search('listen_address: "unix:(.*)"', open(sys.argv[1]).read())[1])
listener.listen()
while True: listener.accept()[0].close()
)script";
constexpr char kNodeManager[] = R"script(#!/bin/sh
trap 'exit 0' TERM
while true; do sleep 100 & wait; done
)script";
constexpr uid_t kNobody = 65534;

std::string OutputOf(const std::string& shell_command) {
  FILE* output = popen((shell_command + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  pclose(output);
  return text;
}

// `espalier up` on a data directory, in a process of its own. It is told to be ready by its address file.
class RunningUp {
 public:
  RunningUp(const TestFolder& folder, const std::string& data, std::optional<std::string> database = std::nullopt,
            bool as_nobody = false)
      : data_(folder.File(data)), process_([&] {
          if (as_nobody && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) return 9;
          UpOptions options{.data_directory = folder.File(data), .slot_count = 2, .database = database, .programs = {}};
          options.programs = {folder.File("master"), folder.File("node"), folder.File("worker"), folder.File("node")};
          const auto ran = Up(options, [](const std::string&) {});
          if (!ran.has_value()) Log(LogLevel::kError, ran.error().message);
          return ran.has_value() ? 0 : 1;
        }) {}

  bool BecomesReady() const {
    return Eventually([this] { return std::filesystem::exists(data_ + "/address"); });
  }
  std::string Address() const { return ReadFile(data_ + "/address"); }
  std::string RuntimePath() const {
    const std::string address = Address();  // "unix:/tmp/.../master.sock\n"
    return address.substr(5, address.rfind('/') - 5);
  }
  std::string ConnectionString() const { return "host=" + RuntimePath() + "/postgres user=espalier dbname=espalier"; }
  std::string Sql(const std::string& statement) const {
    return OutputOf("psql -qAt '" + ConnectionString() + "' -c \"" + statement + "\"");
  }
  std::optional<ProcessRecord> ProcessOf(const std::string& program) const {
    return ReadProcessRecord(data_ + "/run/" + program);
  }
  const std::string& Data() const { return data_; }
  Forked& Process() { return process_; }

 private:
  std::string data_;
  Forked process_;
};

TestFolder& Prepare(TestFolder& folder) {
  for (const auto& [name, text] : {std::pair{"master", kMaster}, {"node", kNodeManager}}) {
    std::ofstream(folder.File(name)) << text;
    chmod(folder.File(name).c_str(), 0755);
  }
  return folder;
}

int ProcessesIn(const std::string& folder) {
  return std::stoi(OutputOf("ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -c '" + folder + "'"));
}

TEST_CASE("up makes a cluster, keeps what is stored in it, and leaves nothing behind when it is stopped",
          "[postgres]") {
  TestFolder folder;
  Prepare(folder);
  std::string runtime_path;
  {
    RunningUp up(folder, "data");
    REQUIRE(up.BecomesReady());
    runtime_path = up.RuntimePath();
    CHECK(up.Sql("CREATE TABLE kept AS SELECT 42 AS value") == "");
    CHECK(up.Sql("SHOW fsync") == "on\n");
    CHECK(up.Sql("SHOW server_encoding") == "UTF8\n");
    CHECK(up.Sql("SHOW lc_collate") == "C\n");
    CHECK(up.Sql("SHOW listen_addresses") == "\n");
    const auto stopped = Down(up.Data());
    REQUIRE(stopped.has_value());
    CHECK(*stopped);
    CHECK(up.Process().Wait() == 0);
    CHECK_FALSE(std::filesystem::exists(runtime_path));
    CHECK_FALSE(std::filesystem::exists(up.Data() + "/address"));
    CHECK_FALSE(std::filesystem::exists(up.Data() + "/up.pid"));
    CHECK_FALSE(std::filesystem::exists(up.Data() + "/postgres/postmaster.pid"));
    CHECK(std::filesystem::is_empty(up.Data() + "/run"));
    CHECK(ProcessesIn(up.Data()) == 0);
  }
  RunningUp up(folder, "data");
  REQUIRE(up.BecomesReady());
  CHECK(up.RuntimePath() == runtime_path);
  CHECK(up.Sql("SELECT value FROM kept") == "42\n");
  REQUIRE(Down(up.Data()).has_value());
}

TEST_CASE("root's cluster belongs to another user, who need not be able to reach the data directory", "[postgres]") {
  if (geteuid() != 0) return;
  TestFolder folder;  // mode 0700: only root may enter
  Prepare(folder);
  RunningUp up(folder, "data");
  REQUIRE(up.BecomesReady());
  struct stat cluster;
  REQUIRE(stat((up.Data() + "/postgres").c_str(), &cluster) == 0);
  CHECK(cluster.st_uid != 0);
  CHECK((cluster.st_mode & 0777) == 0700);
  struct stat data;
  REQUIRE(stat(up.Data().c_str(), &data) == 0);
  CHECK(data.st_uid == 0);
  CHECK((data.st_mode & 0777) == 0700);
  REQUIRE(Down(up.Data()).has_value());
}

TEST_CASE("an ordinary user runs everything as himself", "[postgres]") {
  if (geteuid() != 0) return;  // the other tests are this one then
  TestFolder folder;
  Prepare(folder);
  REQUIRE(chown(folder.Path().c_str(), kNobody, kNobody) == 0);
  RunningUp up(folder, "data", std::nullopt, true);
  REQUIRE(up.BecomesReady());
  CHECK(up.Sql("SELECT 1") == "1\n");
  struct stat cluster;
  REQUIRE(stat((up.Data() + "/postgres").c_str(), &cluster) == 0);
  CHECK(cluster.st_uid == kNobody);
  REQUIRE(Down(up.Data()).has_value());
  CHECK(up.Process().Wait() == 0);
}

TEST_CASE("a second up on the same data directory is refused", "[postgres]") {
  TestFolder folder;
  Prepare(folder);
  RunningUp up(folder, "data");
  REQUIRE(up.BecomesReady());
  RunningUp second(folder, "data");
  CHECK(second.Process().Wait() == 1);
  CHECK(up.Sql("SELECT 1") == "1\n");
  REQUIRE(Down(up.Data()).has_value());
}

TEST_CASE("a killed PostgreSQL recovers, even when a backend of it is left", "[postgres]") {
  TestFolder folder;
  Prepare(folder);
  RunningUp up(folder, "data");
  REQUIRE(up.BecomesReady());
  CHECK(up.Sql("CREATE TABLE kept AS SELECT 42 AS value") == "");
  const auto killed = up.ProcessOf("postgres");
  REQUIRE(killed.has_value());
  // A stopped process does not notice that its postmaster is gone: it keeps the shared memory.
  const auto backend =
      RecordOf(std::stoi(up.Sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")));
  REQUIRE(backend.has_value());
  kill(backend->id, SIGSTOP);
  kill(killed->id, SIGKILL);
  CHECK(Eventually([&] { return up.Sql("SELECT value FROM kept") == "42\n"; }));
  CHECK_FALSE(IsAlive(*backend));
  REQUIRE(Down(up.Data()).has_value());
  CHECK(up.Process().Wait() == 0);
}

TEST_CASE("after a kill of up its children die and the next up goes on, even when a backend is left", "[postgres]") {
  TestFolder folder;
  Prepare(folder);
  std::vector<ProcessRecord> children;
  {
    RunningUp up(folder, "data");
    REQUIRE(up.BecomesReady());
    CHECK(up.Sql("CREATE TABLE kept AS SELECT 42 AS value") == "");
    for (const char* program : {"postgres", "master", "node-manager"})
      children.push_back(up.ProcessOf(program).value());
    const int backend = std::stoi(up.Sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"));
    children.push_back(RecordOf(backend).value());
    kill(backend, SIGSTOP);
    up.Process().Signal(SIGKILL);
    CHECK(up.Process().Wait() == -SIGKILL);
    std::filesystem::remove(up.Data() + "/address");
  }
  RunningUp up(folder, "data");
  REQUIRE(up.BecomesReady());
  for (const ProcessRecord& child : children) CHECK_FALSE(IsAlive(child));
  CHECK(up.Sql("SELECT value FROM kept") == "42\n");
  REQUIRE(Down(up.Data()).has_value());
  CHECK(up.Process().Wait() == 0);
}

TEST_CASE("a half-made cluster is made again", "[postgres]") {
  TestFolder folder;
  Prepare(folder);
  std::filesystem::create_directories(folder.File("data/postgres.new/base"));
  RunningUp up(folder, "data");
  REQUIRE(up.BecomesReady());
  CHECK(up.Sql("SELECT 1") == "1\n");
  CHECK_FALSE(std::filesystem::exists(folder.File("data/postgres.new")));
  REQUIRE(Down(up.Data()).has_value());
}

TEST_CASE("with a database of one's own there is no private PostgreSQL", "[postgres]") {
  TestFolder folder;
  Prepare(folder);
  RunningUp up(folder, "data", "postgresql://somewhere/espalier");
  REQUIRE(up.BecomesReady());
  CHECK_FALSE(std::filesystem::exists(up.Data() + "/postgres"));
  CHECK_FALSE(up.ProcessOf("postgres").has_value());
  CHECK(ReadFile(up.Data() + "/config/master.txt").find("database: \"postgresql://somewhere/espalier\"") !=
        std::string::npos);
  REQUIRE(Down(up.Data()).has_value());
  CHECK(up.Process().Wait() == 0);
}

}  // namespace
}  // namespace espalier
