// Makes batches durable, one at a time, beside the event loop; then lets go what waited for them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "master/core/state/state_store.h"
#include "master/loop/group_commit.h"

namespace espalier::master {

// Invariant: at most one batch is on its way. The event loop starts batches; the thread calls back.
class CommitThread {
 public:
  // Both are called on the thread: `release` for each release of a batch that is durable, in order; then, or when the
  // commit failed, `done` with its result. By then the thread is idle again.
  CommitThread(StateStore& store, std::function<void(Release)> release, std::function<void(Result<void>)> done);
  // Finishes the batch that is on its way.
  ~CommitThread();

  // REQUIRES: idle: `done` has been called for the batch before.
  void Start(Batch batch);

 private:
  void Run();
  Result<void> Commit(const StateEdit& edit);

  StateStore& store_;
  const std::function<void(Release)> release_;
  const std::function<void(Result<void>)> done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Batch> batch_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace espalier::master
