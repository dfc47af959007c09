#include "worker/process/control_group.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

namespace espalier::worker {
namespace {

namespace fs = std::filesystem;

// "0::/path" of /proc/self/cgroup.
std::optional<std::string> OwnPath(const fs::path& root) {
  constexpr std::string_view kBegin = "0::";
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kBegin)) return line.substr(kBegin.size());
  }
  return std::nullopt;
}

// Where a group is mounted, and which.
struct GroupMount {
  std::string group;
  std::string point;
};

// "79 69 0:38 /group /point rw - cgroup2 cgroup2 rw" of /proc/self/mountinfo.
std::optional<GroupMount> ParseGroupMount(const std::string& line) {
  if (line.find(" - cgroup2 ") == std::string::npos) return std::nullopt;
  std::istringstream fields(line);
  std::string number, parent, device;
  GroupMount mount;
  if (fields >> number >> parent >> device >> mount.group >> mount.point) return mount;
  return std::nullopt;
}

void AddProcesses(const fs::path& group, std::set<pid_t>& processes) {
  processes.merge(ProcessesIn(group));
  for (const fs::path& below : GroupsBelow(group)) AddProcesses(below, processes);
}

}  // namespace

std::vector<fs::path> OwnControlGroups(const fs::path& root) {
  const std::optional<std::string> path = OwnPath(root);
  std::vector<fs::path> folders;
  std::ifstream stream(root / "proc/self/mountinfo");
  for (std::string line; path.has_value() && std::getline(stream, line);) {
    const std::optional<GroupMount> mount = ParseGroupMount(line);
    if (!mount.has_value()) continue;
    const std::string group = mount->group == "/" ? "" : mount->group;
    if (path != group && !path->starts_with(group + "/")) continue;  // it is not below what is mounted there
    fs::path folder = root / mount->point.substr(1);
    if (path->size() > group.size() + 1) folder /= path->substr(group.size() + 1);
    if (ProcessesIn(folder).contains(getpid())) folders.push_back(std::move(folder));
  }
  return folders;
}

bool TellGroup(const fs::path& file, const std::string& text) {
  std::ofstream stream(file);
  return static_cast<bool>(stream << text << std::flush);
}

std::set<pid_t> ProcessesIn(const fs::path& group) {
  std::set<pid_t> processes;
  std::ifstream stream(group / "cgroup.procs");
  for (pid_t pid = 0; stream >> pid;) {
    if (pid > 0) processes.insert(pid);  // 0: one that cannot be seen from this namespace
  }
  return processes;
}

std::vector<fs::path> GroupsBelow(const fs::path& group) {
  std::vector<fs::path> groups;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(group, error)) {
    if (entry.is_directory(error)) groups.push_back(entry.path());
  }
  return groups;
}

std::set<pid_t> SignalGroup(const fs::path& group) {
  std::set<pid_t> processes;
  AddProcesses(group, processes);
  const fs::path file = group / "cgroup.kill";
  std::error_code error;
  if (processes.empty() || (fs::exists(file, error) && TellGroup(file, "1"))) return processes;
  for (const pid_t pid : processes) kill(pid, SIGKILL);
  return processes;
}

void RemoveGroup(const fs::path& group) {
  for (const fs::path& below : GroupsBelow(group)) RemoveGroup(below);
  rmdir(group.c_str());  // its files go with it
}

}  // namespace espalier::worker
