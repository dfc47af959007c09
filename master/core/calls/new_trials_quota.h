// Whether a study may have more trials, by what its team and its user may use (state/quota.h).
#pragma once

#include <optional>
#include <vector>

#include "master/core/calls/new_trial.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// `closing`: how many of the party's open trials the same call closes. `continued`: which trial the new ones go on
// from, in its plan; null: none. Error: kResourceExhausted of "trials", with what is used, what would be, and what may
// be. O(1) where neither the team nor the user has such a limit; else O(running studies), and where the plan's nodes
// may become too many O(joint segments x log nodes).
Result<void> CheckQuotas(const MasterState& state, const Study& study, const std::vector<ResolvedTrial>& trials,
                         std::int64_t closing, const Trial* continued = nullptr);

}  // namespace espalier::master
