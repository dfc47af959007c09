// What runs have printed, in memory, whatever its run: for tests of what surrounds an output store. Thread-safe.
#pragma once

#include <algorithm>
#include <iterator>
#include <mutex>

#include "master/core/output_store.h"

namespace espalier::master {

class MemoryOutputStore : public OutputStore {
 public:
  Result<void> Put(const RunOutput& output) override {
    const std::lock_guard lock(mutex_);
    for (const OutputPiece& piece : output.pieces) {
      stored_.push_back(
          {.number = std::ssize(stored_) + 1, .run = output.run.run, .slot = {"server", 0}, .piece = piece});
    }
    return {};
  }

  Result<std::vector<StoredOutput>> Read(const OutputQuery& query) override {
    const std::lock_guard lock(mutex_);
    std::vector<StoredOutput> found;
    std::copy_if(stored_.begin(), stored_.end(), std::back_inserter(found),
                 [&](const StoredOutput& each) { return each.number > query.after; });
    return found;
  }

 private:
  std::mutex mutex_;
  std::vector<StoredOutput> stored_;
};

}  // namespace espalier::master
