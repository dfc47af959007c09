// Fetches ahead of use: a thread that calls a function over and over, and keeps what it returns until another thread
// takes it, in that order. Once all is taken it fetches as much again, while the last is being used: to be woken for
// each would take longer than what is small takes to fetch.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <tl/expected.hpp>
#include <utility>

#include "base/check.h"

namespace espalier::trainer {

template <class Item>
class FetchThread {
 public:
  // Begins at once, and keeps up to `depth`. `fetch` is called by the thread alone, and no more once it has thrown.
  // Throws std::system_error where the system has no thread. REQUIRES: depth >= 1.
  FetchThread(std::size_t depth, std::function<Item()> fetch)
      : depth_(depth), fetch_(std::move(fetch)), thread_([this] { Run(); }) {
    ESPALIER_CHECK(depth >= 1);
  }
  // Returns once `fetch` runs no more. What nobody has taken is dropped.
  ~FetchThread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  FetchThread(const FetchThread&) = delete;
  FetchThread& operator=(const FetchThread&) = delete;

  // The next; waits until it is there. Where `fetch` threw instead, throws the same, from then on. One thread's.
  Item Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !fetched_.empty(); });
    if (!fetched_.front().has_value()) std::rethrow_exception(fetched_.front().error());
    Item item = *std::move(fetched_.front());
    fetched_.pop_front();
    const bool all_are_taken = fetched_.empty();
    lock.unlock();
    if (all_are_taken) changed_.notify_one();
    return item;
  }

 private:
  using Fetched = tl::expected<Item, std::exception_ptr>;

  void Run() {
    while (AwaitNeed()) {
      for (std::size_t i = 0; i < depth_; ++i) {
        Fetched fetched = Fetch();
        const bool failed = !fetched.has_value();
        if (!Keep(std::move(fetched)) || failed) return;
      }
    }
  }

  // Until all is taken. False: it is to stop.
  bool AwaitNeed() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || fetched_.empty(); });
    return !stopping_;
  }

  Fetched Fetch() {
    try {
      return fetch_();
    } catch (...) {
      return tl::unexpected(std::current_exception());
    }
  }

  // False: it is to stop.
  bool Keep(Fetched fetched) {
    std::unique_lock lock(mutex_);
    fetched_.push_back(std::move(fetched));
    const bool goes_on = !stopping_;
    lock.unlock();
    changed_.notify_one();
    return goes_on;
  }

  const std::size_t depth_;
  const std::function<Item()> fetch_;
  std::mutex mutex_;
  std::condition_variable changed_;  // one of the two threads waits at most: one for an item, one until there is none
  std::deque<Fetched> fetched_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace espalier::trainer
