// Where work on a plan node can go on from.
#pragma once

#include <optional>

#include "base/units.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// The last step of the node, up to `limit` and with it, whose checkpoint stands.
std::optional<Step> NearestCheckpoint(const PlanNode& node, Step limit);

}  // namespace espalier
