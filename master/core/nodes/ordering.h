// What servers should do: derives again what each run must promise (law 8), and lets the policy hand out paths.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void OrderRuns(Draft& draft);

}  // namespace espalier::master
