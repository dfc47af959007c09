// What reports say of costs, for the cost model (TreeML 5.2).
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// So many units under the node took, or held, so much in all: stored clipped to what is believed so far, added to what
// is known of the node. Nonsense (no units, negative or absurd totals) is passed over. O(hyper-parameters).
void Measure(Draft& draft, const SearchPlan& plan, PlanNodeId node, CostKind kind, std::int64_t units,
             std::int64_t total);

// The same of times.
void MeasureTime(Draft& draft, const SearchPlan& plan, PlanNodeId node, CostKind kind, std::int64_t units,
                 Seconds total);

}  // namespace espalier::master
