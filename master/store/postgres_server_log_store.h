// What node managers write into their logs, in PostgreSQL. Thread-safe: one call at a time; others wait.
#pragma once

#include <cstdint>
#include <string>

#include "master/core/server_log_store.h"
#include "master/store/lazy_connection.h"

namespace espalier::master {

class PostgresServerLogStore : public ServerLogStore {
 public:
  // Connects when it is first used, and again after an error. `epoch`: of this process's leadership, which every
  // transaction that writes checks and locks. REQUIRES: the database is migrated.
  PostgresServerLogStore(std::string database_url, std::int64_t epoch)
      : epoch_(epoch), connection_(std::move(database_url), epoch) {}

  // Each blocks, for its turn too. One transaction, O(1).
  Result<void> Put(const ServerLogPart& part) override;
  // One query, O(what is kept of the server).
  Result<std::vector<StoredServerLog>> Read(const std::string& server, std::int64_t after) override;

 private:
  const std::int64_t epoch_;
  LazyConnection connection_;
};

}  // namespace espalier::master
