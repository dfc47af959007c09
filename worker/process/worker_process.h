// One worker's process: started with a socket to it, its output in a log file of bounded size, killed with this
// process, and with all that it has started. Started, killed and waited for on one thread, which lives as long as the
// process: the kernel ties a child's life to the thread that made it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "worker/process/handle.h"
#include "worker/process/memory_kills.h"
#include "worker/process/worker_channel.h"
#include "worker/process/worker_launch.h"
#include "worker/process/worker_place.h"
#include "worker/protocol/worker_message.h"

namespace espalier::worker {

class WorkerTemplate;

class WorkerProcess {
 public:
  // Runs `command` with the arguments "--fd N" added, as the leader of a process group of its own, with signals to stop
  // ignored: who stops the service asks the node manager. It and all that it starts carry `mark` (worker_family.h).
  // Standard output and error go to `log`. It has what `place` gives it of the machine; cores that are not there are as
  // good as none named. Its environment is this process's, with kHashSeed, and with kMemorySettings where that says
  // nothing of the kind. `from`: the template of such workers, which becomes this one; if it does not, or is null, the
  // command is executed. Errors and cost: of PrepareLaunch and Execute (worker_launch.h).
  static Result<std::unique_ptr<WorkerProcess>> Start(const std::vector<std::string>& command,
                                                      const std::filesystem::path& log, const std::string& mark,
                                                      const WorkerPlace& place = {},
                                                      std::shared_ptr<WorkerTemplate> from = nullptr);
  // Kills it if it lives, with all that it has started.
  ~WorkerProcess();

  // 0: its template is not known to have become it. It may be asked for something all the same.
  pid_t pid() const { return pid_; }
  // Can be read once there is something for NoticeBirth; -1: there will be nothing.
  int birth() const { return birth_.has_value() ? birth_->handle.get() : -1; }
  // Looks whether its template has become it, and executes the command where it never will.
  void NoticeBirth();
  WorkerChannel& channel() { return channel_; }

  // If it is not born, it never will be; a template that has taken too long for it ends.
  void Kill();
  // True once it has ended, and nothing lives that it has started; waits for nothing but the end of what is killed
  // then.
  bool HasEnded();
  // Whose doing its end was. A SIGKILL that did not come from Kill counts as the kernel's, for want of memory, if it
  // has killed one in the worker's own control group; where that keeps no account, if it has killed one since the
  // worker was started where the worker ran, which may have been another. REQUIRES: HasEnded().
  WorkerDeath::Cause CauseOfDeath() const { return cause_; }
  // How it ended, and the last lines that it has printed since its log had `from` bytes. REQUIRES: HasEnded().
  std::string LastWords(std::int64_t from = 0) const;
  // Puts what it has printed aside if that has more bytes.
  void TrimLog(std::uintmax_t bytes_max);

 private:
  struct Birth {
    Handle handle;
    WorkerLaunch launch;
    std::shared_ptr<WorkerTemplate> from;  // not null
    Seconds asked_at;
  };

  WorkerProcess(WorkerLaunch& launch, std::filesystem::path log);  // takes its socket

  Result<void> Begin(WorkerLaunch launch, std::shared_ptr<WorkerTemplate> from);
  bool WasKilledForMemory() const;
  void RemoveWhatIsLeft();

  pid_t pid_ = 0;
  std::optional<Birth> birth_;  // of a worker that is still to be born
  WorkerChannel channel_;
  const std::filesystem::path log_;
  const std::string mark_;
  const WorkerPlace place_;
  const std::int64_t memory_kills_;  // before it was started
  bool ended_ = false;
  WorkerDeath::Cause cause_ = WorkerDeath::Cause::kOwn;
  bool was_killed_ = false;
  int status_ = 0;
};

}  // namespace espalier::worker
