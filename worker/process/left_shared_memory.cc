#include "worker/process/left_shared_memory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace espalier::worker {
namespace {

// Whoever makes a file has it open meanwhile, and is seen; unless it lives in another namespace of processes.
constexpr std::time_t kSecondsMin = 2;

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

bool IsSemaphoreInTheMaking(std::string_view name) {
  constexpr std::string_view kBegin = "sem.";
  if (!name.starts_with(kBegin)) return false;
  name.remove_prefix(kBegin.size());
  const bool of_library =
      name.size() == 6 && std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c); });
  return of_library || (name.starts_with("mp-") && name.size() == 11);
}

// torch_PROCESS_RANDOM_COUNT. While its maker lives, the name may still be on its way to who is to open it.
bool IsTensorOfTheDead(std::string_view name) {
  constexpr std::string_view kBegin = "torch_";
  if (!name.starts_with(kBegin)) return false;
  name.remove_prefix(kBegin.size());
  const std::string process(name.substr(0, name.find('_')));
  return IsNumber(process) && !std::filesystem::exists("/proc/" + process);
}

std::set<std::string> Candidates(const std::filesystem::path& folder) {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    struct stat status {};
    const std::string path = entry.path().string();
    const std::string name = entry.path().filename().string();
    if (!IsSemaphoreInTheMaking(name) && !IsTensorOfTheDead(name)) continue;
    if (lstat(path.c_str(), &status) != 0) continue;
    const bool is_old = std::time(nullptr) - status.st_mtim.tv_sec >= kSecondsMin;
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid() && is_old) paths.insert(path);
  }
  return paths;
}

void LeaveThoseInUse(const std::filesystem::path& process, std::set<std::string>& paths) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd", error)) {
    paths.erase(std::filesystem::read_symlink(entry.path(), error).string());
  }
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos) paths.erase(line.substr(path));
  }
}

}  // namespace

int RemoveLeftSharedMemory(const std::filesystem::path& folder) {
  std::set<std::string> paths = Candidates(folder);
  std::error_code error;
  auto process = std::filesystem::directory_iterator("/proc", error);
  for (; !paths.empty() && process != std::filesystem::directory_iterator(); process.increment(error)) {
    if (IsNumber(process->path().filename().string())) LeaveThoseInUse(*process, paths);
  }
  for (const std::string& path : paths) unlink(path.c_str());
  return static_cast<int>(paths.size());
}

}  // namespace espalier::worker
