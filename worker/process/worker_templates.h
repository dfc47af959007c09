// The templates of one node manager's workers, one for each interpreter and environment in which workers run. One
// thread, as WorkerProcess.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "worker/process/worker_place.h"
#include "worker/process/worker_template.h"

namespace espalier::worker {

// A template ends of which no worker was asked for so long: it holds as much memory as one that has only begun.
inline constexpr Seconds kTemplateIdle{300};
// So many at a time; the one that was used longest ago ends.
inline constexpr int kTemplatesMax = 4;
// One that never became a worker is not tried again before that.
inline constexpr Seconds kTemplateRetry{600};

class WorkerTemplates {
 public:
  // `log`: the path of a template's, by its number. `mark`: of the family that they are part of.
  WorkerTemplates(std::function<std::filesystem::path(int number)> log, std::string mark)
      : log_(std::move(log)), mark_(std::move(mark)) {}

  // The one for workers of the command in the place, which may still be importing. Null: they are to be started
  // otherwise. Waits for nothing but a fork.
  std::shared_ptr<WorkerTemplate> For(const std::vector<std::string>& command, const WorkerPlace& place, Seconds now);
  // Notices those that have ended, and ends those that have been idle.
  void Look(Seconds now);
  bool Has(pid_t pid) const;
  void Clear() { entries_.clear(); }

 private:
  void MakeRoom();

  struct Entry {
    std::shared_ptr<WorkerTemplate> process;  // null: it could not become workers
    Seconds used_at{0};
  };

  const std::function<std::filesystem::path(int)> log_;
  const std::string mark_;
  int started_ = 0;
  // By the interpreter's command and the variables of its environment.
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, Entry> entries_;
};

}  // namespace espalier::worker
