// Futures: values that arrive later, or the error that came instead.
// Copies of a future share one value. Every function may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/result.h"

namespace espalier {

// Wakes one thread that waits for any of several futures.
class FutureWaiter {
 public:
  void Wake();
  void WaitUntilWoken();

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// What futures of all types have in common: whether they are settled, and who waits for that.
// Invariant: settled once, never unsettled; no waiter is kept after that.
class FutureStateBase {
 public:
  // The order given when the value arrived; empty: not settled.
  std::optional<std::int64_t> order() const;
  // Until it is settled.
  void Wait() const;
  // Wakes `waiter` when this is settled, at once if it is. REQUIRES: the waiter lives until RemoveWaiter.
  void AddWaiter(FutureWaiter* waiter);
  void RemoveWaiter(FutureWaiter* waiter);

 protected:
  ~FutureStateBase() = default;
  void MarkSettled(std::int64_t order);

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable settled_;
  std::optional<std::int64_t> order_;
  std::vector<FutureWaiter*> waiters_;
};

template <class T>
class FutureState : public FutureStateBase {
 public:
  void Settle(Result<T> value, std::int64_t order) {
    value_ = std::move(value);
    MarkSettled(order);
  }
  const Result<T>& value() const { return *value_; }

 private:
  std::optional<Result<T>> value_;  // written before it is marked settled, not changed after
};

template <class T>
class Future {
 public:
  explicit Future(std::shared_ptr<FutureState<T>> state) : state_(std::move(state)) {}

  bool Ready() const { return state_->order().has_value(); }
  // Values of one study arrive in this order. REQUIRES: Ready().
  std::int64_t order() const { return *state_->order(); }

  void Wait() const { state_->Wait(); }

  // Waits, then returns the value or the error.
  const Result<T>& Get() const {
    Wait();
    return state_->value();
  }

  FutureStateBase& state() const { return *state_; }

 private:
  std::shared_ptr<FutureState<T>> state_;
};

// The writing end of a future. REQUIRES: Settle is called at most once; `order` grows with the values' order of
// arrival.
template <class T>
class Promise {
 public:
  Future<T> future() const { return Future<T>(state_); }
  void Settle(Result<T> value, std::int64_t order) { state_->Settle(std::move(value), order); }

 private:
  std::shared_ptr<FutureState<T>> state_ = std::make_shared<FutureState<T>>();
};

template <class T>
void WaitAll(const std::vector<Future<T>>& futures) {
  for (const Future<T>& future : futures) future.Wait();
}

// Waits until at least one is settled, and returns the index of the one that was settled first. REQUIRES: not empty.
template <class T>
std::size_t WaitAny(const std::vector<Future<T>>& futures) {
  ESPALIER_CHECK(!futures.empty()) << "nothing to wait for";
  FutureWaiter waiter;
  for (const Future<T>& future : futures) future.state().AddWaiter(&waiter);
  waiter.WaitUntilWoken();
  for (const Future<T>& future : futures) future.state().RemoveWaiter(&waiter);
  // Looked through twice: while the first pass finds one that is settled, an earlier one may have been passed already.
  std::size_t first = futures.size();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < futures.size(); ++i) {
      if (futures[i].Ready() && (first == futures.size() || futures[i].order() < futures[first].order())) first = i;
    }
  }
  return first;
}

}  // namespace espalier
