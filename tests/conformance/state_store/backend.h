// What the conformance suite needs of an implementation: a database that masters open one after the other.
#pragma once

#include <memory>

#include "master/core/history_store.h"
#include "master/core/state/state_store.h"

namespace espalier::master {

class Backend {
 public:
  virtual ~Backend() = default;
  // As the leading master. Nothing is loaded yet.
  virtual std::unique_ptr<StateStore> Open() = 0;
  // The same database.
  virtual std::unique_ptr<HistoryStore> OpenHistory() = 0;
  // Another master takes over: stores opened before must write nothing any more.
  virtual void TakeOver() = 0;
};

// With a new, empty database. Each test program defines one.
std::unique_ptr<Backend> NewBackend();

}  // namespace espalier::master
