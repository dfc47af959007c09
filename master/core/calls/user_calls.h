// What administrators ask for, and the first of them.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OnAddUser(Draft& draft, const AddUserCall& call);
void OnRemoveUser(Draft& draft, const RemoveUserCall& call);

// The state has just been loaded: leases begin, the first administrator is given the token of the settings, and it is
// said who may call.
void OnRecovered(Draft& draft, const Recovered& recovered);

}  // namespace espalier::master
