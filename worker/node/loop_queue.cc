#include "worker/node/loop_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace espalier::node {

LoopQueue::LoopQueue() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ESPALIER_CHECK(fd_ >= 0) << "the system gives no eventfd";
}

LoopQueue::~LoopQueue() { close(fd_); }

void LoopQueue::Post(std::function<void()> closure) {
  const std::lock_guard lock(mutex_);
  closures_.push_back(std::move(closure));
  eventfd_write(fd_, 1);
}

void LoopQueue::RunAll() {
  std::vector<std::function<void()>> closures;
  {
    const std::lock_guard lock(mutex_);
    eventfd_t count = 0;
    eventfd_read(fd_, &count);
    closures.swap(closures_);
  }
  for (const auto& closure : closures) closure();
}

}  // namespace espalier::node
