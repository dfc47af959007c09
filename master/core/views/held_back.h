// Why nothing is begun for somebody: for those who wonder what their studies wait for.
#pragma once

#include <string>

#include "master/core/state/master_state.h"

namespace espalier::master {

// The limit that the party has come to, or the study's team or user, whichever is first; empty: it may go on. For those
// who may know what the party uses. O(1) while nobody is stopped; else O(parties + runs under way x studies that they
// serve).
std::string WhyHeldBack(const MasterState& state, const Party& party, Time now);
std::string WhyHeldBack(const MasterState& state, const Study& study, Time now);

}  // namespace espalier::master
