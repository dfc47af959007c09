// The oracle of the step ledger: the same totals, counted from the whole state.
#pragma once

#include "master/core/state/master_state.h"

namespace espalier::master {

// All but the times.
StepTotals TotalsFromScratch(const MasterState& state, StudyId study);

}  // namespace espalier::master
