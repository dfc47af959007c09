// Makes batches durable, one at a time, beside the event loop; then releases what waited for them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "master/core/state/state_store.h"

namespace espalier::master {

// Edits that are committed together, and what waits for them, in order: each is told that they are durable, or why that
// is not known.
struct Batch {
  StateEdit edit;
  std::vector<std::function<void(const Result<void>&)>> releases;
  bool empty() const { return edit.empty() && releases.empty(); }
};

// Invariant: at most one batch is in flight. The event loop starts batches; the thread calls back.
class CommitThread {
 public:
  // `done` is called on the thread with the commit's result, after the batch's releases. By then the thread is idle
  // again.
  CommitThread(StateStore& store, std::function<void(Result<void>)> done);
  // Finishes the batch in flight.
  ~CommitThread();

  // REQUIRES: idle: `done` has been called for the batch before.
  void Start(Batch batch);

 private:
  void Run();
  Result<void> Commit(const StateEdit& edit);

  StateStore& store_;
  const std::function<void(Result<void>)> done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Batch> batch_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace espalier::master
