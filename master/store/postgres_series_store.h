// Training metrics, read from PostgreSQL. Thread-safe: one call at a time; others wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/core/series_store.h"

namespace espalier::master {

class PostgresSeriesStore : public SeriesStore {
 public:
  // Connects when it is first used, and again after an error. `epoch`: of this process's leadership.
  // REQUIRES: the database is migrated.
  PostgresSeriesStore(std::string database_url, std::int64_t epoch);
  ~PostgresSeriesStore() override;

  // Blocks, for its turn too. One query, O(a page).
  Result<std::vector<StoredSeries>> Read(const SeriesQuery& query) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace espalier::master
