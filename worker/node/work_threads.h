// Threads that do beside the event loop what has to be waited for: begun in order, as many at a time as there are
// threads. Do may be called from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace espalier::node {

class WorkThreads {
 public:
  explicit WorkThreads(int count);
  // Finishes what is being done; what has not begun is dropped.
  ~WorkThreads();

  void Do(std::function<void()> work);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace espalier::node
