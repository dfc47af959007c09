// Why a run was placed where it is: what the state still says of it.
#pragma once

#include <string>

#include "master/core/state/master_state.h"

namespace espalier::master {

// In clauses for people, such as "of what an idle slot could take it had the longest way down; it crashed on gpu1
// before": by which ranking it was the best, or that evaluations go first; which memory it takes; which servers were
// avoided. Of a run that an earlier leadership ordered the ranking is not known: that may have had another policy.
// Empty: nothing is known. O(log runs + servers that refused it).
std::string WhyPlaced(const MasterState& state, const Run& run);

}  // namespace espalier::master
