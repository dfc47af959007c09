// The control groups of one node manager's workers, below its own group, where that is of the second version and may be
// written to: a unit of systemd with `Delegate=yes`, a container with a group of its own, root.
//   OWN/espalier-node-NAME/    locked as long as the node manager lives: what is in one that is not was left
//     worker-N/                one worker, with all that it starts
//     node-manager/            where the node manager goes itself, if workers' memory is to be limited and accounted
//                              for: no group has both processes and controllers for those below it
// Several node managers in one group are beside each other. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace espalier::worker {

class WorkerGroups {
 public:
  // Makes the folder. `name`: differs from that of any other node manager. `root`: of the file
  // system, "/" but for tests. Error: kFailedPrecondition, saying why there can be no groups.
  static Result<std::unique_ptr<WorkerGroups>> Open(const std::string& name, const std::filesystem::path& root = "/");
  // Removes all that it made, and leaves this process where it was. REQUIRES: the workers are gone.
  ~WorkerGroups();
  WorkerGroups(const WorkerGroups&) = delete;
  WorkerGroups& operator=(const WorkerGroups&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  // Why workers' memory is neither limited nor accounted for; empty: it is.
  const std::string& why_without_memory() const { return why_without_memory_; }

  // A new group for a worker, whom the kernel kills whole when it takes more memory; 0: any. It is the worker's from
  // then on (WorkerPlace). Error: kResourceExhausted when the kernel gives none. Cost: some ten microseconds.
  Result<std::filesystem::path> Make(std::int64_t worker, std::int64_t memory_bytes);

 private:
  WorkerGroups(std::filesystem::path own, std::filesystem::path folder, int lock);

  void TakeMemoryController();
  void LeaveMemoryController();
  bool Move(const std::filesystem::path& group);

  const std::filesystem::path own_;
  const std::filesystem::path folder_;
  const int lock_;
  std::string why_without_memory_;
  bool has_moved_ = false;
};

// Kills what is in groups below this process's own whose node manager is gone, and removes them. How many processes
// there were.
int RemoveLeftGroups(const std::filesystem::path& root = "/");

}  // namespace espalier::worker
