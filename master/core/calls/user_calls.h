// What administrators ask for, and the first of them.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OnAddUser(Draft& draft, const AddUserCall& call);
void OnRemoveUser(Draft& draft, const RemoveUserCall& call);

// The state has just been loaded: gives the first administrator the token of the settings, and says who may call.
void OnRecovered(Draft& draft);

}  // namespace espalier::master
