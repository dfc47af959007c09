// What node managers have logged, in memory, all of it: for tests of what surrounds a store of it. Thread-safe.
#pragma once

#include <algorithm>
#include <iterator>
#include <mutex>

#include "master/core/server_log_store.h"

namespace espalier::master {

class MemoryServerLogStore : public ServerLogStore {
 public:
  Result<void> Put(const ServerLogPart& part) override {
    const std::lock_guard lock(mutex_);
    stored_.push_back({.number = std::ssize(stored_) + 1, .part = part});
    return {};
  }

  Result<std::vector<StoredServerLog>> Read(const std::string& server, std::int64_t after) override {
    const std::lock_guard lock(mutex_);
    std::vector<StoredServerLog> found;
    std::ranges::copy_if(stored_, std::back_inserter(found), [&](const StoredServerLog& each) {
      return each.number > after && each.part.server == server;
    });
    return found;
  }

 private:
  std::mutex mutex_;
  std::vector<StoredServerLog> stored_;
};

}  // namespace espalier::master
