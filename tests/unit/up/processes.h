// For tests of programs that start programs: a folder for a test's files, a function run in a process of its own, and
// waiting for a condition.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

namespace espalier {

// An empty private folder, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string path = "/tmp/espalier test XXXXXX";
    path_ = mkdtemp(path.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs `body` in a child process, whose exit status is what it returns. Killed at the end if it still runs.
class Forked {
 public:
  explicit Forked(const std::function<int()>& body) : id_(fork()) {
    if (id_ == 0) _exit(body());
  }
  ~Forked() {
    if (!waited_) {
      Signal(SIGKILL);
      Wait();
    }
  }
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  pid_t Id() const { return id_; }
  void Signal(int number) const { kill(id_, number); }
  // The exit status, or minus the number of the signal that ended it.
  int Wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    waited_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t id_;
  bool waited_ = false;
};

// Waits until the condition holds. False: not within a minute, which only a broken program needs.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace espalier
