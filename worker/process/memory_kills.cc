#include "worker/process/memory_kills.h"

#include <fstream>
#include <optional>
#include <string>

namespace espalier::worker {
namespace {

namespace fs = std::filesystem;

// The number behind "oom_kill" at the beginning of a line.
std::optional<std::int64_t> CountIn(const fs::path& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    constexpr std::string_view kName = "oom_kill ";
    if (line.starts_with(kName)) return std::strtoll(line.c_str() + kName.size(), nullptr, 10);
  }
  return std::nullopt;
}

// A line of /proc/self/cgroup: "4:memory:/group" of the first version, "0::/group" of the second.
std::optional<std::int64_t> CountOfGroup(const std::string& line, const fs::path& root) {
  const std::size_t name = line.find(':') + 1;
  const std::size_t group = line.find(':', name) + 1;
  if (name == 0 || group == 0 || group + 1 > line.size()) return std::nullopt;
  const std::string controllers = "," + line.substr(name, group - 1 - name) + ",";
  const std::string within = line.substr(group + 1);
  const fs::path groups = root / "sys/fs/cgroup";
  if (controllers == ",,") return MemoryKillsIn(groups / within);
  if (controllers.find(",memory,") == std::string::npos) return std::nullopt;
  return CountIn(groups / "memory" / within / "memory.oom_control");
}

}  // namespace

std::int64_t MemoryKillsHere(const fs::path& root) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    if (const auto count = CountOfGroup(line, root)) return *count;
  }
  return CountIn(root / "proc/vmstat").value_or(0);
}

std::optional<std::int64_t> MemoryKillsIn(const fs::path& group) { return CountIn(group / "memory.events"); }

}  // namespace espalier::worker
