#include "client/future.h"

namespace espalier {

void FutureWaiter::Wake() {
  // Under the lock: the waiter may be gone as soon as it sees that it was woken.
  const std::lock_guard lock(mutex_);
  woken_ = true;
  condition_.notify_one();
}

void FutureWaiter::WaitUntilWoken() {
  std::unique_lock lock(mutex_);
  condition_.wait(lock, [&] { return woken_; });
}

std::optional<std::int64_t> FutureStateBase::order() const {
  const std::lock_guard lock(mutex_);
  return order_;
}

void FutureStateBase::Wait() const {
  std::unique_lock lock(mutex_);
  settled_.wait(lock, [&] { return order_.has_value(); });
}

void FutureStateBase::AddWaiter(FutureWaiter* waiter) {
  const std::lock_guard lock(mutex_);
  if (order_.has_value()) {
    waiter->Wake();
  } else {
    waiters_.push_back(waiter);
  }
}

void FutureStateBase::RemoveWaiter(FutureWaiter* waiter) {
  const std::lock_guard lock(mutex_);
  std::erase(waiters_, waiter);
}

void FutureStateBase::MarkSettled(std::int64_t order) {
  {
    const std::lock_guard lock(mutex_);
    ESPALIER_CHECK(!order_.has_value()) << "settled twice";
    order_ = order;
    for (FutureWaiter* waiter : waiters_) waiter->Wake();
    waiters_.clear();
  }
  settled_.notify_all();
}

}  // namespace espalier
