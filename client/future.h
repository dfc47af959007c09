// Futures: values that arrive later, or the error that came instead.
// Copies of a future share one value. Every function may be called from any thread.
//   if (!future.WaitFor(Seconds{60})) future.Cancel();
//   future.OnSettled([](const Result<Evaluation>& evaluation) { ... });
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/units.h"

namespace espalier {

// What is left of a patience, by a clock that never goes back. Patience may be Seconds::max(): for ever.
class Deadline {
 public:
  explicit Deadline(Seconds patience);
  Seconds Left() const;  // 0 once it is over

 private:
  Seconds patience_;
  Seconds began_;
};

// Wakes one thread that waits for any of several futures.
class FutureWaiter {
 public:
  void Wake();
  // Not longer than `patience`.
  void WaitUntilWoken(Seconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// What futures of all types have in common: whether they are settled, and who waits for that.
// Invariant: settled once, never unsettled; neither waiters nor callbacks are kept after that.
class FutureStateBase {
 public:
  // The order given when the value arrived; empty: not settled.
  std::optional<std::int64_t> order() const;
  // False: not settled within `patience`.
  bool WaitFor(Seconds patience) const;
  // Called once: when this is settled, by the thread that settles it; at once, if it is.
  void OnSettled(std::function<void()> callback);
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
  std::vector<std::function<void()>> callbacks_;
};

template <class T>
class FutureState : public FutureStateBase {
 public:
  void Settle(Result<T> value, std::int64_t order) {
    value_ = std::move(value);
    MarkSettled(order);
  }
  const Result<T>& value() const { return *value_; }

  // How who waits for it withdraws it: the first that is given. REQUIRES: that precedes the first future.
  void set_cancel(std::function<Result<void>()> cancel) {
    if (cancel_ == nullptr) cancel_ = std::move(cancel);
  }
  Result<void> Cancel() const { return cancel_ == nullptr ? Result<void>() : cancel_(); }

 private:
  std::optional<Result<T>> value_;  // written before it is marked settled, not changed after
  std::function<Result<void>()> cancel_;
};

template <class T>
class Future {
 public:
  explicit Future(std::shared_ptr<FutureState<T>> state) : state_(std::move(state)) {}

  bool Ready() const { return state_->order().has_value(); }
  // Values of one study arrive in this order. REQUIRES: Ready().
  std::int64_t order() const { return *state_->order(); }

  void Wait() const { state_->WaitFor(Seconds::max()); }
  // False: not settled within `patience`.
  bool WaitFor(Seconds patience) const { return state_->WaitFor(patience); }

  // Calls `callback` once: at once on this thread if it is settled, else on the thread that settles it, which reads all
  // of a study's results. A Study that it holds lives until then. REQUIRES: it throws and waits for nothing.
  void OnSettled(std::function<void(const Result<T>&)> callback) const {
    state_->OnSettled([callback = std::move(callback), state = state_.get()] { callback(state->value()); });
  }

  // Withdraws what it waits for; it is settled soon after, like any other. Nothing happens if it was settled before.
  // Of an evaluation that is its trial, with all its steps. Error: the master's.
  Result<void> Cancel() const { return Ready() ? Result<void>() : state_->Cancel(); }

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
  // What Future::Cancel does, nothing else: the first that is given. REQUIRES: that precedes the first future.
  void set_cancel(std::function<Result<void>()> cancel) { state_->set_cancel(std::move(cancel)); }

 private:
  std::shared_ptr<FutureState<T>> state_ = std::make_shared<FutureState<T>>();
};

template <class T>
void WaitAll(const std::vector<Future<T>>& futures) {
  for (const Future<T>& future : futures) future.Wait();
}

// The same, all together within `patience`. False: not all are settled.
template <class T>
bool WaitAll(const std::vector<Future<T>>& futures, Seconds patience) {
  const Deadline deadline(patience);
  for (const Future<T>& future : futures) {
    if (!future.WaitFor(deadline.Left())) return false;
  }
  return true;
}

// The index of the one that was settled first; none: none is.
template <class T>
std::optional<std::size_t> FirstSettled(const std::vector<Future<T>>& futures) {
  // Looked through twice: while the first pass finds one that is settled, an earlier one may have been passed already.
  std::optional<std::size_t> first;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < futures.size(); ++i) {
      if (futures[i].Ready() && (!first || futures[i].order() < futures[*first].order())) first = i;
    }
  }
  return first;
}

// Waits until at least one is settled, and returns the index of the one that was settled first; none: not within
// `patience`. REQUIRES: not empty.
template <class T>
std::optional<std::size_t> WaitAny(const std::vector<Future<T>>& futures, Seconds patience) {
  ESPALIER_CHECK(!futures.empty()) << "nothing to wait for";
  FutureWaiter waiter;
  for (const Future<T>& future : futures) future.state().AddWaiter(&waiter);
  waiter.WaitUntilWoken(patience);
  for (const Future<T>& future : futures) future.state().RemoveWaiter(&waiter);
  return FirstSettled(futures);
}

// The same, however long it takes.
template <class T>
std::size_t WaitAny(const std::vector<Future<T>>& futures) {
  return *WaitAny(futures, Seconds::max());
}

}  // namespace espalier
