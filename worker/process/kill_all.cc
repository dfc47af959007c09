#include "worker/process/kill_all.h"

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

namespace espalier::worker {
namespace {

constexpr int kWaitsMax = 500;
constexpr std::chrono::milliseconds kWait{10};

}  // namespace

int KillAll(const std::function<std::set<pid_t>()>& living) {
  std::set<pid_t> killed;
  for (int i = 0; i < kWaitsMax; ++i) {
    const std::set<pid_t> found = living();
    for (const pid_t pid : found) kill(pid, SIGKILL);  // again: one may have started another meanwhile
    killed.insert(found.begin(), found.end());
    for (const pid_t pid : killed) waitpid(pid, nullptr, WNOHANG);  // those whose parents have died are this process's
    if (found.empty()) break;
    std::this_thread::sleep_for(kWait);
  }
  return static_cast<int>(killed.size());
}

}  // namespace espalier::worker
