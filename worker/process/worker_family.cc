#include "worker/process/worker_family.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <set>

#include "worker/process/control_group.h"
#include "worker/process/kill_all.h"

namespace espalier::worker {
namespace {

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

int KillFamily(const std::string& mark, const std::filesystem::path& control_group) {
  return KillAll([&] {
    std::set<pid_t> living = Members(mark);
    if (!control_group.empty()) living.merge(SignalGroup(control_group));
    return living;
  });
}

}  // namespace espalier::worker
