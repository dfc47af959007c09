// What runs have printed, in PostgreSQL. Thread-safe: one call at a time; others wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/core/output_store.h"

namespace espalier::master {

class PostgresOutputStore : public OutputStore {
 public:
  // Connects when it is first used, and again after an error. `epoch`: of this process's leadership, which every
  // transaction that writes checks and locks. Over `bytes_max` the output of the oldest runs goes, a tenth at a time.
  // REQUIRES: the database is migrated.
  PostgresOutputStore(std::string database_url, std::int64_t epoch, std::int64_t bytes_max);
  ~PostgresOutputStore() override;

  // Each blocks, for its turn too. One transaction, O(pieces), and O(a tenth of what is kept) once that is full.
  Result<void> Put(const RunOutput& output) override;
  // One query, O(a page).
  Result<std::vector<StoredOutput>> Read(const OutputQuery& query) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::master
