// Files in the store that nobody needs: of runs whose promise was lost, or whose report never came.
#pragma once

#include <string>
#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

// Of files that the store lists, those that a run of this service has saved, that is not under way any more, and that
// no checkpoint names. Everything else is kept: what stands, what is promised or on its way, what runs start from, and
// files of other services, or that are no checkpoints at all. A node manager that was lost with its reports may still
// report such a file: the caller leaves alone what is young.
// O(files x log + runs under way).
std::vector<std::string> OrphansAmong(const MasterState& state, const std::vector<std::string>& files);

}  // namespace espalier::master
