// Looks now and then at the GPUs on which runs train, on a thread of its own: a driver in trouble makes its callers
// wait. Owned by the event loop; every function is called on its thread, and returns at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "worker/node/gpu_library.h"
#include "worker/node/loop_queue.h"
#include "worker/node/work_threads.h"

namespace espalier::node {

class GpuWatch {
 public:
  // What was seen, by device; of those that have failed, nothing.
  using Seen = std::map<int, GpuUse>;

  // `library` null: nothing is ever seen. REQUIRES: `queue` lives longer.
  GpuWatch(std::unique_ptr<GpuLibrary> library, LoopQueue& queue);

  // Looks at these: by device, how GpuLibrary names its GPUs. Nothing happens while an earlier look is under way. What
  // fails is logged when it begins to.
  void Look(std::map<int, std::string> gpus, std::function<void(const Seen&)> done);

 private:
  void Note(int device, const std::string& gpus, const Result<GpuUse>& use);

  const std::unique_ptr<GpuLibrary> library_;
  LoopQueue& queue_;
  bool is_looking_ = false;
  std::set<int> failing_;
  WorkThreads thread_;  // last, so that it ends first
};

}  // namespace espalier::node
