// Reads everything that is stored. For the .cc files of this folder only.
#pragma once

#include <pqxx/pqxx>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// Rebuilds the state through Apply, so that what is derived is derived by the same code as ever. Throws as pqxx does.
// O(rows log rows): one query a table, each row's change applied once. Error: kInternal when the contents break a rule,
// saying which. Runs are read by `beside` in a thread of its own, while what is applied before them is read. REQUIRES:
// connections of their own, and one snapshot.
Result<MasterState> LoadState(pqxx::transaction_base& transaction, pqxx::transaction_base& beside);

}  // namespace espalier::master
