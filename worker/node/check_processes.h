// The processes of checks (worker/check), one each: started with what they are to check, and looked at until they are
// gone. Owned by the event loop's thread.
#pragma once

#include <poll.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/checked_trainer.h"
#include "worker/node/core/action.h"
#include "worker/process/worker_process.h"

namespace espalier::node {

class CheckProcesses {
 public:
  // `program`: espalier-check. `folder`: for what checks save; it is emptied.
  CheckProcesses(std::string program, std::filesystem::path folder);

  // `command`: of the runtime's workers. `mark`: of its family. One that cannot be started has ended.
  void Start(const StartCheck& start, const std::vector<std::string>& command, const std::string& mark,
             const worker::WorkerPlace& place);
  void Kill(std::int64_t process);
  // All of them.
  void KillAll();

  // What is to be waited for.
  void AddTo(std::vector<pollfd>& waiting) const;
  bool Has(pid_t pid) const;

  struct Ended {
    std::int64_t process = 0;
    std::optional<CheckFinding> finding;  // none: it has said nothing, or nonsense
    std::string last_words;
  };
  // Those that are gone since it was last asked.
  std::vector<Ended> TakeEnded();

 private:
  struct Process {
    std::unique_ptr<worker::WorkerProcess> process;  // null: it could not be started
    std::optional<CheckFinding> finding;
    std::string last_words;  // why it could not be started
  };

  std::filesystem::path FolderOf(std::int64_t process) const;

  const std::string program_;
  const std::filesystem::path folder_;
  std::map<std::int64_t, Process> processes_;
};

}  // namespace espalier::node
