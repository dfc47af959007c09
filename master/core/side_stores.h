// What is for people to read, and no part of the master's state: nothing is decided by it, and it is held nowhere but
// in the database.
#pragma once

#include "master/core/output_store.h"
#include "master/core/series_store.h"
#include "master/core/server_log_store.h"

namespace espalier::master {

// The ports outlive whoever is given them.
struct SideStores {
  OutputStore& outputs;
  SeriesStore& series;
  ServerLogStore& server_logs;
};

}  // namespace espalier::master
