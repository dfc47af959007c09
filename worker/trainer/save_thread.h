// Writes checkpoints while training goes on: one thread that digests and writes states one after another.
// Any thread may add jobs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "worker/checkpoint/checkpoint_format.h"
#include "worker/trainer/failure.h"

namespace espalier::trainer {

struct SaveJob {
  TrainingState state;
  std::filesystem::path path;
  worker::CheckpointIdentity identity;
  // Hears what became of it; called by the thread. A failure says that the state is intact: a copy was to be written.
  std::function<void(const Outcome<WrittenCheckpoint>&)> done;
};

class SaveThread {
 public:
  SaveThread();
  // Returns once all jobs are done.
  ~SaveThread();
  SaveThread(const SaveThread&) = delete;
  SaveThread& operator=(const SaveThread&) = delete;

  // Before a state is copied: waits while another is held that is not small, so that no second copy stands beside it.
  void AwaitRoom();
  // REQUIRES: AwaitRoom has returned since the last.
  void Add(SaveJob job);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SaveJob> jobs_;  // the first is being done
  std::size_t held_bytes_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace espalier::trainer
