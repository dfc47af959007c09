#include "worker/process/worker_groups.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "worker/process/control_group.h"
#include "worker/process/kill_all.h"

namespace espalier::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kFolderBegin[] = "espalier-node-";
constexpr char kProcesses[] = "cgroup.procs";
constexpr char kForThoseBelow[] = "cgroup.subtree_control";  // which controllers the groups below have
constexpr int kAttemptsMax = 10;

tl::unexpected<Error> Refused(const std::string& what) {
  return MakeError(ErrorCode::kFailedPrecondition, what + ": " + std::strerror(errno));
}

bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string FirstLineOf(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

bool HasController(const fs::path& group, const std::string& name) {
  std::istringstream words(FirstLineOf(group / "cgroup.controllers"));
  for (std::string word; words >> word;) {
    if (word == name) return true;
  }
  return false;
}

// Locks the folder, as its owner does. -1: it is gone, or somebody has it and `flag` says not to wait.
int LockFolder(const fs::path& folder, int flag) {
  const int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0) return -1;
  if (flock(lock, LOCK_EX | flag) == 0 && IsThere(folder)) return lock;
  close(lock);
  return -1;
}

// Makes it, and locks it; again where somebody took it for a left-over in between.
Result<int> MakeLocked(const fs::path& folder) {
  for (int i = 0; i < kAttemptsMax; ++i) {
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return Refused("cannot make " + folder.string());
    if (const int lock = LockFolder(folder, 0); lock >= 0) return lock;
  }
  return Refused("cannot lock " + folder.string());
}

int RemoveIfLeft(const fs::path& folder) {
  if (!folder.filename().string().starts_with(kFolderBegin)) return 0;
  const int lock = LockFolder(folder, LOCK_NB);
  if (lock < 0) return 0;  // its node manager lives
  const int count = KillAll([&] { return SignalGroup(folder); });
  RemoveGroup(folder);
  close(lock);
  return count;
}

}  // namespace

int RemoveLeftGroups(const fs::path& root) {
  int count = 0;
  for (const fs::path& own : OwnControlGroups(root)) {
    for (const fs::path& folder : GroupsBelow(own)) count += RemoveIfLeft(folder);
  }
  return count;
}

Result<std::unique_ptr<WorkerGroups>> WorkerGroups::Open(const std::string& name, const fs::path& root) {
  auto why = MakeError(ErrorCode::kFailedPrecondition, "no control groups of version 2 are mounted here");
  for (const fs::path& own : OwnControlGroups(root)) {
    const fs::path folder = own / (kFolderBegin + name);
    const Result<int> lock = MakeLocked(folder);
    if (!lock.has_value()) {
      why = tl::unexpected(lock.error());
      continue;
    }
    std::unique_ptr<WorkerGroups> groups(new WorkerGroups(own, folder, *lock));
    if (FirstLineOf(folder / "cgroup.type") == "domain invalid") {
      why = MakeError(ErrorCode::kFailedPrecondition, own.string() + " is for threads alone");
    } else if (access((own / kProcesses).c_str(), W_OK) != 0) {
      why = Refused("cannot move processes out of " + own.string());
    } else {
      groups->TakeMemoryController();
      return groups;
    }
  }
  return why;
}

WorkerGroups::WorkerGroups(fs::path own, fs::path folder, int lock)
    : own_(std::move(own)), folder_(std::move(folder)), lock_(lock) {}

WorkerGroups::~WorkerGroups() {
  LeaveMemoryController();
  RemoveGroup(folder_);
  close(lock_);
}

bool WorkerGroups::Move(const fs::path& group) { return TellGroup(group / kProcesses, std::to_string(getpid())); }

// The root of all groups alone may have processes beside groups with controllers: it is of no type.
void WorkerGroups::TakeMemoryController() {
  if (!HasController(own_, "memory")) {
    why_without_memory_ = own_.string() + " has no memory controller";
    return;
  }
  if (IsThere(own_ / "cgroup.type")) {
    if (ProcessesIn(own_) != std::set<pid_t>{getpid()}) {
      why_without_memory_ = "other processes are in " + own_.string();
      return;
    }
    const fs::path leaf = folder_ / "node-manager";
    mkdir(leaf.c_str(), 0755);
    has_moved_ = Move(leaf);
  }
  if (TellGroup(own_ / kForThoseBelow, "+memory") && TellGroup(folder_ / kForThoseBelow, "+memory")) return;
  why_without_memory_ = own_.string() + " lets no groups have the memory controller: " + std::strerror(errno);
  LeaveMemoryController();
}

void WorkerGroups::LeaveMemoryController() {
  if (!has_moved_) return;
  TellGroup(folder_ / kForThoseBelow, "-memory");
  TellGroup(own_ / kForThoseBelow, "-memory");
  has_moved_ = !Move(own_);
}

Result<fs::path> WorkerGroups::Make(std::int64_t worker, std::int64_t memory_bytes) {
  fs::path group = folder_ / ("worker-" + std::to_string(worker));
  if (mkdir(group.c_str(), 0755) != 0) {
    return MakeError(ErrorCode::kResourceExhausted, "cannot make " + group.string() + ": " + std::strerror(errno));
  }
  if (!why_without_memory_.empty()) return group;
  TellGroup(group / "memory.oom.group", "1");
  if (memory_bytes > 0) {
    TellGroup(group / "memory.max", std::to_string(memory_bytes));
    TellGroup(group / "memory.swap.max", "0");  // where the kernel accounts for it: else what is over would be swapped
  }
  return group;
}

}  // namespace espalier::worker
