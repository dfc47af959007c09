// Asks PostgreSQL how it does. Thread-safe: one call at a time; others wait.
#pragma once

#include <cstdint>
#include <string>

#include "master/core/side_stores.h"
#include "master/store/lazy_connection.h"

namespace espalier::master {

class PostgresProbe : public DatabaseProbe {
 public:
  // Connects when it is first used, and again after an error. `epoch`: of this process's leadership.
  PostgresProbe(std::string database_url, std::int64_t epoch) : connection_(std::move(database_url), epoch) {}

  Result<DatabaseStanding> Ask() override;

 private:
  LazyConnection connection_;
};

}  // namespace espalier::master
