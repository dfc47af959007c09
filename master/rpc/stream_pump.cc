#include "master/rpc/stream_pump.h"

#include <utility>

namespace espalier::master {

void StreamPump::Start(std::unique_ptr<grpc::ServerCompletionQueue> queue, std::function<Seconds()> work) {
  queue_ = std::move(queue);
  work_ = std::move(work);
  const std::lock_guard lock(mutex_);
  is_running_ = true;
  waiting_ = std::thread([this] { WaitForGrpc(); });
  thread_ = std::thread([this] { Run(); });
}

void StreamPump::Hand(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  if (!is_running_) return;
  handed_.push_back(std::move(function));
  if (handed_.size() == 1) changed_.notify_one();
}

void* StreamPump::Begin(Operation& operation) {
  const std::lock_guard lock(mutex_);
  ++open_;
  return &operation;
}

void StreamPump::Stop() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [&] { return open_ == 0; });
    is_running_ = false;
    changed_.notify_one();
  }
  queue_->Shutdown();
  waiting_.join();
  thread_.join();
}

void StreamPump::WaitForGrpc() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) {
    Hand([this, operation = static_cast<Operation*>(tag), ok] {
      operation->Done(ok);
      const std::lock_guard lock(mutex_);
      if (--open_ == 0) completed_.notify_one();
    });
  }
}

void StreamPump::Run() {
  std::vector<std::function<void()>> handed;
  Seconds pause{0};
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, std::chrono::ceil<std::chrono::microseconds>(pause),
                      [&] { return !is_running_ || !handed_.empty(); });
    if (!is_running_) return;
    handed.swap(handed_);
    lock.unlock();
    // What is completed comes first: who has read in time is not taken for one who has not.
    for (const auto& function : handed) function();
    handed.clear();
    pause = work_();
    lock.lock();
  }
}

}  // namespace espalier::master
