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
//   or lies on the path of a run that trains, has not passed it, and goes at least as far; of equally deep ones in this
//   order; of several runs the one expected there first. A run so chosen promises the state there, and, if that is the
//   claim's own point, which it has not passed, and its server measures the claim's evaluation, its metrics.
// Besides what the claims use, a run keeps
// - all that it has promised, if it does not train;
// - a state that it has promised and has reached or passed: it is on its way;
// - a state that it has promised with a claim's metrics, unless a checkpoint stands.
// Where neither a checkpoint nor any of these holds a state that should be kept, one run promises it: one that has
// promised it already, then the one expected there first. Such states are
// - where a run that trains and has not passed the point promises a claim's metrics;
// - ahead of a run that trains and before its end, where an open lineage leaves its path or has its last claim.
// No promise lies beyond the last of the present ones: runs never lengthen. An empty set: the run is not needed any
// more. One all of whose promises lie behind the runner need not train on. Asked again with the answer as present
// promises, it gives the same answer.
std::map<RunId, Needed> NeededPromises(const SearchPlan& plan, const std::vector<RunView>& runs,
                                       const std::vector<OpenLineage>& open);

}  // namespace espalier
