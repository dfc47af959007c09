// Reads everything that is stored. For the .cc files of this folder only.
#pragma once

#include <pqxx/pqxx>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// Rebuilds the state through Apply, so that what is derived is derived by the same code as ever. Throws as pqxx does.
// O(rows log rows): one query a table, each row's change applied once. Error: kInternal when the contents break a rule,
// saying which.
Result<MasterState> LoadState(pqxx::transaction_base& transaction);

}  // namespace espalier::master
