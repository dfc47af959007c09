// The state store in PostgreSQL. Writes are set-based: one statement a table, whatever the edit's length.
// One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/core/state/state_store.h"

namespace espalier::master {

class PostgresStateStore : public StateStore {
 public:
  // Connects when it is first used. `epoch`: of this process's leadership, which every transaction checks and locks.
  // REQUIRES: the database is migrated.
  PostgresStateStore(std::string database_url, std::int64_t epoch);
  ~PostgresStateStore() override;

  // Connects anew. O(all that is stored), every index of the state included: seconds at a million nodes, in which
  // nobody is served.
  Result<MasterState> Load() override;

  // One round trip and one flush to disk, whatever the edit's length; O(changes) besides. Blocks until it is durable, a
  // minute a statement at most. kUnavailable also before the first Load and after a failure until the next: nothing is
  // written that was not decided on what is stored.
  Result<void> Commit(const StateEdit& edit) override;

 private:
  struct Session;
  const std::string url_;
  const std::int64_t epoch_;
  std::unique_ptr<Session> session_;  // null: not loaded
};

}  // namespace espalier::master
