// The rules that hold for every search plan at every moment.
#pragma once

#include <string>
#include <vector>

#include "searchplan/plan/search_plan.h"

namespace espalier {

// One sentence for each broken rule; empty for a sound plan. Also run when the master starts.
std::vector<std::string> CheckInvariants(const SearchPlan& plan);

}  // namespace espalier
