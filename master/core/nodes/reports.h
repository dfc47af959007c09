// Applies one report of a node manager.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

void ApplyReport(Draft& draft, const Report& report);

// Settles the run's open promise at `step`, if there is one, and ends a run that is saving once no promise is open.
void SettlePromiseAt(Draft& draft, RunId run, Step step, PromiseState state);

}  // namespace espalier::master
