// A thread that does one thing after the other: puts files into the store, or fetches them, beside the event loop.
// Do may be called from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace espalier::node {

class WorkThread {
 public:
  WorkThread();
  // Finishes what is being done; what has not begun is dropped.
  ~WorkThread();

  void Do(std::function<void()> work);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace espalier::node
