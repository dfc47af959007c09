// How other threads hand something to the event loop: closures that it runs, in order, on its own thread.
// Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace espalier::node {

class LoopQueue {
 public:
  LoopQueue();
  ~LoopQueue();
  LoopQueue(const LoopQueue&) = delete;
  LoopQueue& operator=(const LoopQueue&) = delete;

  void Post(std::function<void()> closure);

  // Readable while something waits.
  int fd() const { return fd_; }

  // Runs what was posted before. Called by the event loop alone.
  void RunAll();

 private:
  const int fd_;
  std::mutex mutex_;
  std::vector<std::function<void()>> closures_;
};

}  // namespace espalier::node
