// Writes checkpoints while training goes on: one thread that digests, serializes and writes states one after another.
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

#include "worker/trainer/failure.h"
#include "worker/trainer/state.h"

namespace espalier::trainer {

struct Saved {
  std::string state_sha256;
  std::int64_t byte_count = 0;
};

struct SaveJob {
  State state;
  std::filesystem::path path;
  // Makes the file's head, and hears what became of it; both are called by the thread. A failure says that the state is
  // intact: a copy was to be written.
  std::function<std::string(const std::string& state_sha256)> make_head;
  std::function<void(const Outcome<Saved>&)> done;
};

class SaveThread {
 public:
  SaveThread();
  // Returns once all jobs are done.
  ~SaveThread();
  SaveThread(const SaveThread&) = delete;
  SaveThread& operator=(const SaveThread&) = delete;

  // Waits while too many states are held already.
  void Add(SaveJob job);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SaveJob> jobs_;  // the first is being done
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace espalier::trainer
