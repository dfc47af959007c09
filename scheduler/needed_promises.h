// Law 8: a run goes only as far as it is needed. From scratch, in the time of all waiting claims and all runs of a
// plan: the oracle of the index of needs.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "scheduler/run_view.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// An open trial's way: whoever trains along it keeps the state where the trial may want to go on from (law 3): where
// its way parts from the run's path, and at its last claim.
struct OpenLineage {
  PlanNodeId leaf;
  Step horizon;
  Step last_claim;  // Step{0}: none
};

// What a run is needed for.
struct Needed {
  std::set<PromisedAt> promises;
  std::set<ClaimId> serves;  // waiting claims
};

// What each of `runs` (all runs of this plan that have not ended) should promise, as the waiting claims and the open
// lineages want it now. Each waiting claim is served once:
// - by an open promise of its metrics, if there is one;
// - else from the deepest point of its lineage, up to the claim, that has a checkpoint, an open promise of its state,
// or
//   lies on the path of a run that trains, has not passed it, and goes at least as far; of equally deep ones in this
//   order; of several runs the one expected there first. A run so chosen promises the state there, and, if that is the
//   claim's own point and the run's server measures the claim's evaluation, its metrics.
// Besides what the claims use, a run promises
// - where it promises a claim's metrics, the state too, unless a checkpoint stands;
// - a state that it has promised and has reached or passed: it is on its way;
// - ahead of it and before its end, the state at each point without checkpoint where an open lineage leaves its path or
//   has its last claim.
// No promise lies beyond the last of the present ones: runs never lengthen. An empty set: the run is not needed any
// more. One all of whose promises lie behind the runner need not train on. Asked again with the answer as present
// promises, it gives the same answer.
std::map<RunId, Needed> NeededPromises(const SearchPlan& plan, const std::vector<RunView>& runs,
                                       const std::vector<OpenLineage>& open);

}  // namespace espalier
