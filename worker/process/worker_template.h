// A process that has imported what all Python workers import, and becomes workers by forking: some milliseconds each,
// where PyTorch takes seconds to import. It is `python -m espalier.worker_template` (client/python), run by the
// workers' own interpreter in their environment. What it becomes is what would have been started: a child of this
// process, in a group of its own, with the mark, the place and the handles of its launch. It ends where that would not
// be so; whoever was asked for and is not born is to be started from the beginning. One thread, as WorkerProcess.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/process/handle.h"
#include "worker/process/worker_launch.h"

namespace espalier::worker {

class WorkerProcess;

// `python -m espalier.worker ARGUMENTS`, with whatever stands before it.
struct PythonWorker {
  std::vector<std::string> python;
  std::vector<std::string> arguments;
};
// None: it is another command.
std::optional<PythonWorker> AsPythonWorker(const std::vector<std::string>& command);

class WorkerTemplate {
 public:
  // `mark`: of a family of its own, no worker's. `variables` of the environment: as in WorkerPlace. This process
  // becomes the one to which children fall whose parents have ended. Errors: of WorkerProcess::Start.
  static Result<std::shared_ptr<WorkerTemplate>> Start(const std::vector<std::string>& python,
                                                       const std::vector<std::string>& variables,
                                                       const std::filesystem::path& log, const std::string& mark);
  ~WorkerTemplate();

  // Asks for a worker. Gives the handle of its birth, from which its process id can be read, a pid_t, once it lives;
  // its end before that means that it never will, unless it is started otherwise. A worker whose birth is closed first
  // ends before it does anything. Waits for nothing. Error: kUnavailable when the template takes nothing any more.
  Result<Handle> Ask(const WorkerLaunch& launch, const std::vector<std::string>& arguments);

  pid_t pid() const;
  bool HasEnded();
  // REQUIRES: HasEnded().
  std::string LastWords() const;
  // What was asked of it and is not born never will be.
  void Kill();
  void CountBirth() { ++births_; }
  // Whether it has ever become a worker.
  bool has_proved_itself() const { return births_ > 0; }

 private:
  explicit WorkerTemplate(std::unique_ptr<WorkerProcess> process);

  std::unique_ptr<WorkerProcess> process_;  // not null
  int births_ = 0;
};

}  // namespace espalier::worker
