// One worker's process: started with a socket to it, its output in a log file of bounded size, killed with this
// process, and with all that it has started. Started, killed and waited for on one thread, which lives as long as the
// process: the kernel ties a child's life to the thread that made it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/process/memory_kills.h"
#include "worker/process/worker_channel.h"
#include "worker/process/worker_place.h"
#include "worker/protocol/worker_message.h"

namespace espalier::worker {

// glibc asks for huge pages with it, where the system gives them to who asks: a step that makes large tensors and lets
// them go takes up to a third less.
inline constexpr const char* kHugePages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";

// Python's sets and hashes are the same in every process with it alone. What a study's own `environment` says is set
// behind it.
inline constexpr const char* kHashSeed = "PYTHONHASHSEED=0";

class WorkerProcess {
 public:
  // Runs `command` with the arguments "--fd N" added, as the leader of a process group of its own, with signals to stop
  // ignored: who stops the service asks the node manager. It and all that it starts carry `mark` (worker_family.h).
  // Standard output and error go to `log`, which is begun afresh; those before are kept beside it (log_ring.h). A
  // program that cannot be run ends at once, saying so in its log. It has what `place` gives it of the machine; cores
  // that are not there are as good as none named. Its environment is this process's, with kHashSeed, and with
  // kHugePages where that says nothing of the kind. A control group that it cannot enter it does without, saying so in
  // its log. Cost: a fork, a quarter of a millisecond; entering a group takes the child some milliseconds at most, and
  // this process next to nothing. Error: kResourceExhausted when the system gives no process or socket, kInternal when
  // there can be no log.
  static Result<std::unique_ptr<WorkerProcess>> Start(const std::vector<std::string>& command,
                                                      const std::filesystem::path& log, const std::string& mark,
                                                      const WorkerPlace& place = {});
  // Kills it if it lives, with all that it has started.
  ~WorkerProcess();

  pid_t pid() const { return pid_; }
  WorkerChannel& channel() { return channel_; }

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
  static Result<std::unique_ptr<WorkerProcess>> StartIn(const std::vector<std::string>& command,
                                                        const std::filesystem::path& log, const std::string& mark,
                                                        const WorkerPlace& place);
  WorkerProcess(pid_t pid, int socket, std::filesystem::path log, std::string mark, std::filesystem::path group,
                std::int64_t memory_kills);

  bool WasKilledForMemory() const;
  void KillWhatIsLeft();

  const pid_t pid_;
  WorkerChannel channel_;
  const std::filesystem::path log_;
  const std::string mark_;
  const std::filesystem::path group_;  // its own control group; empty: it has none
  const std::int64_t memory_kills_;    // before it was started
  bool ended_ = false;
  WorkerDeath::Cause cause_ = WorkerDeath::Cause::kOwn;
  bool was_killed_ = false;
  int status_ = 0;
};

}  // namespace espalier::worker
