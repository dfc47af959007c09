// Turns an edit into rows: changes are gathered by table, so that each table is written by one statement, whatever the
// edit's length; what is added and changed in one edit is written as it ends. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/core/state/state_edit.h"
#include "master/store/row_set.h"

namespace espalier::master {

// In the order in which they are to be executed: what is referred to comes first. None is empty: at most one for each
// statement of sql/queries. `evaluations`: identities that are known to be stored; those that the rows store are noted
// there. O(changes log changes). Error: kInvalidArgument for text that the database cannot keep; kAborted for an edit
// that contradicts itself.
Result<std::vector<RowSet>> RowsOf(const StateEdit& edit, std::set<std::string>& evaluations);

}  // namespace espalier::master
