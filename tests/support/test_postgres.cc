#include "tests/support/test_postgres.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/check.h"

namespace espalier {
namespace {

// The newest of Debian's PostgreSQL versions, or what is on the path.
std::string Program(const std::string& name) {
  std::filesystem::path newest;
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    const auto program = version.path() / "bin" / name;
    if (std::filesystem::exists(program) && program > newest) newest = program;
  }
  return newest.empty() ? name : newest.string();
}

const passwd* ServerUser() {
  if (geteuid() != 0) return nullptr;  // PostgreSQL refuses to be run by root
  const passwd* user = getpwnam("postgres");
  if (user == nullptr) user = getpwnam("nobody");
  ESPALIER_CHECK(user != nullptr) << "no user to run PostgreSQL as";
  return user;
}

// Starts a program with its output going to `output`.
pid_t Spawn(const std::vector<std::string>& words, int output, const passwd* user) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  ESPALIER_CHECK(child >= 0) << "cannot fork";
  if (child > 0) return child;
  setpgid(0, 0);  // an interrupt from the terminal is for the test
  if (user != nullptr && (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
    _exit(126);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

bool Finish(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Waits until the other end of the pipe is closed, by the test or by its death; then nothing is left behind.
[[noreturn]] void Guard(int pipe_end, const std::string& folder) {
  setpgid(0, 0);
  char byte;
  while (read(pipe_end, &byte, 1) > 0 || errno == EINTR) {
  }
  pid_t server = 0;
  std::ifstream(folder + "/data/postmaster.pid") >> server;
  if (server > 0) {
    kill(server, SIGQUIT);
    while (kill(server, 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  _exit(0);
}

}  // namespace

TestPostgres::TestPostgres() {
  char folder[] = "/tmp/espalier_pg_XXXXXX";  // short: a socket's path has at most 107 bytes
  ESPALIER_CHECK(mkdtemp(folder) != nullptr) << "cannot make a folder in /tmp";
  folder_ = folder;
  int ends[2];
  ESPALIER_CHECK(pipe2(ends, O_CLOEXEC) == 0) << "cannot make a pipe";
  guard_ = fork();
  ESPALIER_CHECK(guard_ >= 0) << "cannot fork";
  if (guard_ == 0) {
    close(ends[1]);
    Guard(ends[0], folder_);
  }
  close(ends[0]);
  guard_pipe_ = ends[1];
  const passwd* user = ServerUser();
  const bool given = user == nullptr || chown(folder, user->pw_uid, user->pw_gid) == 0;
  ESPALIER_CHECK(given) << "cannot give the folder away";
  const int log = open((folder_ + "/log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  const pid_t child = Spawn({Program("initdb"), "-D", folder_ + "/data", "-U", "espalier", "-A", "trust", "-E", "UTF8",
                             "--locale=C.UTF-8", "--no-sync"},
                            log, user);
  close(log);
  ESPALIER_CHECK(Finish(child)) << "initdb failed, see " << folder_ << "/log";
  Start(/*synced=*/true);
}

TestPostgres::~TestPostgres() {
  Stop(SIGINT);
  close(guard_pipe_);
  Finish(guard_);
}

void TestPostgres::Start(bool synced) {
  const int log = open((folder_ + "/log").c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  server_ = Spawn({Program("postgres"), "-D", folder_ + "/data", "-k", folder_, "-c", "listen_addresses=", "-c",
                   "shared_buffers=64MB", "-c", "max_connections=40", "-c", synced ? "fsync=on" : "fsync=off"},
                  log, ServerUser());
  close(log);
  for (int attempt = 0;; ++attempt) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const bool ready = Finish(Spawn({Program("pg_isready"), "-q", "-h", folder_, "-U", "espalier"}, nowhere, nullptr));
    close(nowhere);
    if (ready) break;
    const bool ended = waitpid(server_, nullptr, WNOHANG) == server_;
    ESPALIER_CHECK(!ended && attempt < 2400)
        << "PostgreSQL " << (ended ? "ended" : "does not answer") << ", it has logged:\n"
        << std::ifstream(folder_ + "/log").rdbuf();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void TestPostgres::Stop(int signal) {
  kill(server_, signal);
  Finish(server_);
}

std::string TestPostgres::NewDatabase(const std::string& encoding) {
  const std::string name = "test_" + std::to_string(++database_count_);
  const std::string server = "host=" + folder_ + " user=espalier dbname=";
  Run(server + "postgres", "CREATE DATABASE " + name + " TEMPLATE template0 LOCALE 'C' ENCODING '" + encoding + "'");
  return server + name;
}

std::string TestPostgres::Run(const std::string& database_url, const std::string& command) {
  int ends[2];
  ESPALIER_CHECK(pipe2(ends, O_CLOEXEC) == 0) << "cannot make a pipe";
  const pid_t child =
      Spawn({Program("psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", database_url, "-c", command},
            ends[1], nullptr);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) output.append(buffer, count);
  close(ends[0]);
  ESPALIER_CHECK(Finish(child)) << command << ": " << output;
  return output.substr(0, output.find_first_of("|\n"));
}

void TestPostgres::CutConnections(const std::string& database_url) {
  Run(database_url,
      "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
      "WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

void TestPostgres::Crash() {
  Stop(SIGQUIT);
  Start(/*synced=*/false);
}

}  // namespace espalier
