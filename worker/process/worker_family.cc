#include "worker/process/worker_family.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

namespace espalier::worker {
namespace {

constexpr int kWaitsMax = 500;
constexpr std::chrono::milliseconds kWait{10};

// The process's mark; empty if it has none, is gone, or is another user's.
std::string MarkOf(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string begin = std::string(kFamilyVariable) + "=";
  for (std::string variable; std::getline(stream, variable, '\0');) {
    if (variable.starts_with(begin)) return variable.substr(begin.size());
  }
  return {};
}

std::set<pid_t> Members(const std::string& mark) {
  std::set<pid_t> members;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || end != name.data() + name.size() || pid == getpid()) continue;
    const std::string found = MarkOf(pid);
    if (found == mark || found.starts_with(mark + "#")) members.insert(pid);
  }
  return members;
}

}  // namespace

std::string FamilyMark(const std::filesystem::path& work_directory) { return work_directory.string(); }

std::string FamilyMark(const std::filesystem::path& work_directory, std::int64_t worker) {
  return FamilyMark(work_directory) + "#" + std::to_string(worker);
}

int KillFamily(const std::string& mark) {
  std::set<pid_t> killed;
  for (int i = 0; i < kWaitsMax; ++i) {
    const std::set<pid_t> living = Members(mark);
    for (const pid_t pid : living) kill(pid, SIGKILL);  // again: one may have started another meanwhile
    killed.insert(living.begin(), living.end());
    for (const pid_t pid : killed) waitpid(pid, nullptr, WNOHANG);  // those whose parents have died are this process's
    if (living.empty()) break;
    std::this_thread::sleep_for(kWait);
  }
  return static_cast<int>(killed.size());
}

}  // namespace espalier::worker
