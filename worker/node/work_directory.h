// This server's own folder, and what is found in it when a node manager starts again:
//   id          its own, made once: the master tells by it whose server is whose
//   lock        held as long as the node manager lives, so that two cannot share the folder
//   staging/    checkpoints on their way into the store, until the report about them is acknowledged
//   steps/RUN.log   a run's path and its step log, until all reports about it are acknowledged; RUN is as in
//               core/run_files.h
//   spare.log   the last step log that was forgotten, which is the next run's
//   logs/       the workers' output
//   fetched/    copies of checkpoints that are being read, where the store makes some; emptied at each start
//   temporary/  what workers write that nobody else sees, a folder for each, which goes with it; emptied at each start
//   checks/     what checks of trainers save; emptied at each start
//   references/ users' code, of references that are wanted; what an earlier node manager left is deleted
// Not thread-safe; owned by the event loop.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/point.h"
#include "base/result.h"

namespace espalier::node {

class WorkDirectory {
 public:
  // A node manager has used the folder before.
  static bool IsSetUp(const std::filesystem::path& folder);

  // Makes the folders that are missing, and empties `fetched`. Error: kFailedPrecondition when another node manager
  // holds the folder, kInternal when the system refuses.
  static Result<WorkDirectory> Open(const std::filesystem::path& folder);
  ~WorkDirectory();
  WorkDirectory(WorkDirectory&& other) noexcept;
  WorkDirectory& operator=(WorkDirectory&&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path staging() const { return folder_ / "staging"; }
  std::filesystem::path steps() const { return folder_ / "steps"; }
  std::filesystem::path fetched() const { return folder_ / "fetched"; }
  std::filesystem::path Temporary(std::int64_t worker) const { return temporary() / std::to_string(worker); }
  std::filesystem::path checks() const { return folder_ / "checks"; }
  std::filesystem::path references() const { return folder_ / "references"; }
  std::filesystem::path WorkerLog(int slot, const std::string& runtime) const {
    return folder_ / "logs" / ("slot-" + std::to_string(slot) + "-" + runtime + ".log");
  }
  std::filesystem::path TemplateLog(int number) const {
    return folder_ / "logs" / ("template-" + std::to_string(number) + ".log");
  }

  // "ID-START": 16 hexadecimal digits each, which tell work directories and starts in them apart.
  std::string NewIncarnation() const;

  // Of its file system; 0 if that does not say.
  std::int64_t FreeBytes() const;

  // Begins its step log: lines "path NODE FROM TO" precede those that the worker adds.
  void RecordRun(RunKey run, const std::vector<PathStage>& path);
  void ForgetRun(RunKey run);
  // What the run's step log holds from `offset` on; empty if there is none.
  std::string ReadStepLog(RunKey run, std::int64_t offset) const;

  struct LeftOverRun {
    RunKey run;
    std::vector<PathStage> path;
  };
  std::vector<LeftOverRun> LeftOverRuns() const;
  // Deletes checkpoints that were never written to their end, and all of workers' that nobody else sees. REQUIRES: no
  // worker lives.
  void DeleteTemporaries() const;
  // All that is staged, whole or damaged.
  std::vector<std::filesystem::path> StagedCheckpoints() const;

 private:
  WorkDirectory(std::filesystem::path folder, std::string id, int lock);

  std::filesystem::path temporary() const { return folder_ / "temporary"; }
  // The next run's step log: the last one that was forgotten. A file system that makes and deletes a file for each run
  // looks longer and longer for an inode that was not in use a moment ago.
  std::filesystem::path spare_log() const { return folder_ / "spare.log"; }

  std::filesystem::path folder_;
  std::string id_;
  int lock_;
};

// Deletes a staged checkpoint and its temporary file, if they are there.
void DeleteStagedFile(const std::filesystem::path& file);

}  // namespace espalier::node
