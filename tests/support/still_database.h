// A database that answers at once, and takes nothing.
#pragma once

#include "master/core/side_stores.h"

namespace espalier::master {

class StillDatabase : public DatabaseProbe {
 public:
  Result<DatabaseStanding> Ask() override { return DatabaseStanding{}; }
};

}  // namespace espalier::master
