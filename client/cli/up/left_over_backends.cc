#include "client/cli/up/left_over_backends.h"

#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "client/cli/up/system_error.h"

namespace espalier {
namespace {

constexpr Seconds kTimeToEnd{1};
constexpr Seconds kKillPatience{10};

bool IsPostgres(const std::string& process) {
  std::ifstream name(process + "/comm");
  std::string text;
  std::getline(name, text);
  return text.starts_with("postgres");
}

std::vector<pid_t> ProcessesIn(const struct stat& cluster) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const pid_t id = std::atoi(entry.path().filename().c_str());
    struct stat folder;
    if (id <= 0 || stat((entry.path() / "cwd").c_str(), &folder) != 0) continue;
    if (folder.st_dev != cluster.st_dev || folder.st_ino != cluster.st_ino) continue;
    if (IsPostgres(entry.path().string())) found.push_back(id);
  }
  return found;
}

// True: none is left.
bool EndProcesses(const struct stat& cluster) {
  const Seconds start = MonotonicNow();
  while (true) {
    const std::vector<pid_t> left = ProcessesIn(cluster);
    if (left.empty()) return true;
    const Seconds waited = MonotonicNow() - start;
    if (waited > kKillPatience) return false;
    if (waited > kTimeToEnd) {
      for (const pid_t id : left) kill(id, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

Result<void> EndLeftOverBackends(const std::string& cluster_path, int cluster, const std::optional<SystemUser>& user) {
  struct stat status;
  if (fstat(cluster, &status) != 0) return SystemError("examine " + cluster_path);
  // Even root may not look at another user's processes without the right to trace them (as in a container): a child
  // that has become that user may.
  const pid_t child = fork();
  if (child < 0) return SystemError("start a process");
  if (child == 0) {
    if (user.has_value() && (setgroups(1, &user->group) != 0 || setgid(user->group) != 0 || setuid(user->user) != 0)) {
      _exit(2);
    }
    _exit(EndProcesses(status) ? 0 : 1);
  }
  int end = 0;
  while (waitpid(child, &end, 0) < 0 && errno == EINTR) {
  }
  if (end != 0)
    return MakeError(ErrorCode::kInternal, "processes of an earlier PostgreSQL in " + cluster_path + " do not end");
  unlink((cluster_path + "/postmaster.pid").c_str());
  return {};
}

}  // namespace espalier
