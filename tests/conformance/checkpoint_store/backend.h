// What the conformance suite needs of an implementation: an empty store, and a way to make it be away.
#pragma once

#include <memory>

#include "worker/checkpoint/checkpoint_store.h"

namespace espalier {

class StoreBackend {
 public:
  virtual ~StoreBackend() = default;
  virtual CheckpointStore& store() = 0;
  // From here on the store cannot be reached, and nothing that is done to it changes what is there.
  virtual void TakeAway() = 0;
  virtual void BringBack() = 0;
};

// With a new store. Each test program defines one.
std::unique_ptr<StoreBackend> NewStore();

}  // namespace espalier
