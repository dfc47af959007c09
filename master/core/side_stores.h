// What is held nowhere but in the database: what is for people to read, by which nothing is decided; and what has left
// memory.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/units.h"
#include "master/core/history_store.h"
#include "master/core/output_store.h"
#include "master/core/series_store.h"
#include "master/core/server_log_store.h"

namespace espalier::master {

// What it is to ask the database something.
struct DatabaseStanding {
  Seconds answered_within{0};
  std::int64_t bytes = 0;  // that it takes on its disk
};

class DatabaseProbe {
 public:
  virtual ~DatabaseProbe() = default;
  // Makes one query. Blocks, for its turn too. Error: kUnavailable.
  virtual Result<DatabaseStanding> Ask() = 0;
};

// The ports outlive whoever is given them.
struct SideStores {
  OutputStore& outputs;
  SeriesStore& series;
  ServerLogStore& server_logs;
  HistoryStore& histories;
  DatabaseProbe& database;
};

}  // namespace espalier::master
