// What servers should do: derives again what each run must promise (law 8), and lets the policy
// start paths and preempt runs. Each of its actions is checked: it can be unwise, never wrong.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OrderRuns(Draft& draft);

}  // namespace espalier::master
