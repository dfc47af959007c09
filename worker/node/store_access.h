// The checkpoint store as the event loop uses it: what has to be waited for is done by other threads, several files at
// a time, and its outcome posted to the loop's queue. Owned by the event loop; every function is called on its thread,
// and returns at once.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "worker/checkpoint/checkpoint_store.h"
#include "worker/node/core/action.h"
#include "worker/node/loop_queue.h"
#include "worker/node/work_threads.h"

namespace espalier::node {

// What a staged checkpoint says of itself. Time is left open, and the file's name in the store.
struct StateOfRun {
  RunKey run;
  StateStored state;
};

// Reads all of the file. Error: kNotFound when it is missing, damaged or foreign; kUnavailable when it cannot be read
// now.
Result<StateOfRun> ReadStagedState(const std::filesystem::path& file);

class StoreAccess {
 public:
  // REQUIRES: both live longer.
  StoreAccess(CheckpointStore& store, LoopQueue& queue);

  // Answers with where the file can be read until the run's file is released, or with Core::OnCheckpointFetched's
  // errors.
  void Fetch(const FetchCheckpoint& fetch, std::function<void(const Result<std::string>&)> done);
  void Release(RunKey run) { pinned_.erase(run); }
  // Answers as Core::OnUploadFinished takes it.
  void Upload(const UploadFile& upload, std::function<void(const Result<void>&)> done);
  // What cannot be removed is logged: nobody needs it, and nobody waits.
  void Remove(const std::string& name);

 private:
  CheckpointStore& store_;
  LoopQueue& queue_;
  std::map<RunKey, PinnedFile> pinned_;
  // Last, so that they end first. Fetches have their own: a run waits for each.
  WorkThreads uploads_;
  WorkThreads fetches_;
};

}  // namespace espalier::node
