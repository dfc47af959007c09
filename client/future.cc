#include "client/future.h"

#include <algorithm>

#include "base/clock.h"

namespace espalier {
namespace {

constexpr Seconds kForEver = std::chrono::hours(24 * 365);  // more is for ever: clocks overflow

// False: `condition` does not hold within `patience`.
template <class Condition>
bool WaitOn(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Seconds patience,
            const Condition& condition) {
  if (patience < kForEver) return changed.wait_for(lock, patience, condition);
  changed.wait(lock, condition);
  return true;
}

}  // namespace

Deadline::Deadline(Seconds patience) : patience_(patience), began_(MonotonicNow()) {}

Seconds Deadline::Left() const {
  return patience_ < kForEver ? std::max(Seconds{0}, patience_ - (MonotonicNow() - began_)) : patience_;
}

void FutureWaiter::Wake() {
  // Under the lock: the waiter may be gone as soon as it sees that it was woken.
  const std::lock_guard lock(mutex_);
  woken_ = true;
  condition_.notify_one();
}

void FutureWaiter::WaitUntilWoken(Seconds patience) {
  std::unique_lock lock(mutex_);
  WaitOn(condition_, lock, patience, [&] { return woken_; });
}

std::optional<std::int64_t> FutureStateBase::order() const {
  const std::lock_guard lock(mutex_);
  return order_;
}

bool FutureStateBase::WaitFor(Seconds patience) const {
  std::unique_lock lock(mutex_);
  return WaitOn(settled_, lock, patience, [&] { return order_.has_value(); });
}

void FutureStateBase::OnSettled(std::function<void()> callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!order_.has_value()) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback();
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
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    ESPALIER_CHECK(!order_.has_value()) << "settled twice";
    order_ = order;
    for (FutureWaiter* waiter : waiters_) waiter->Wake();
    waiters_.clear();
    callbacks.swap(callbacks_);
    settled_.notify_all();  // under the lock: this may be gone as soon as a waiter sees that it is settled
  }
  for (const std::function<void()>& callback : callbacks) callback();
}

}  // namespace espalier
