// What servers should do: derives again what each run must promise (law 8), and lets the policy start paths and preempt
// runs. Each of its actions is checked: it can be unwise, never wrong.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Asks the policy until it has no more to do, and then, of slots that stay idle, the tuners that want to know. An
// action that cannot be done is logged, and the policy is not asked again in this transition. O(what changed in the
// needs of touched plans + actions x (log plans + path x depth + idle servers that may not start it)).
void OrderRuns(Draft& draft);

// Tells it what has happened since it was asked, and asks again if something has.
void TellPolicy(Draft& draft);

}  // namespace espalier::master
