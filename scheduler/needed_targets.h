// Law 8: a run goes only as far as it is needed.
#pragma once

#include <map>
#include <vector>

#include "scheduler/run_view.h"
#include "searchplan/plan/search_plan.h"

namespace espalier {

// An open trial's way: whoever trains along it keeps a checkpoint where it parts from the run's path, so that the trial
// can go on from there later (law 3).
struct OpenLineage {
  PlanNodeId leaf;
  Step horizon;
};

// The targets of each of `runs` (all runs of this plan that are not ended), as the waiting claims and open lineages
// want them now:
// - For each waiting claim that no checkpoint nearer to it, or as near, serves: the deepest point of its lineage, up to
// the
//   claim, on the path of the run that gets furthest along it (of several, the one with the fewest steps to go there,
//   then the smaller id); evaluate where that is the claim's own point. Such a point counts only if the run has not
//   passed it (step >= at) and still trains, or if its state is promised already. The furthest of these is the run's
//   end.
// - Where a run that stands at the claim's own point, or has passed it, has promised to evaluate there, that serves the
//   claim, checkpoint or not. A run without path is taken to evaluate, whatever its target says: it stays as long as a
//   claim waits for it.
// - Before the end, and not behind the runner, a save at each point without checkpoint where an open lineage leaves the
// path.
// - A promised save of a point that the run has passed, or evaluates: it is under way and costs
// nothing
//   more, and dropping it would have the steps before it trained again for a claim that comes later.
// Of a state that is stored no save is wanted. An empty list: nothing is needed of this run any more. A run all of
// whose targets are behind it need not train on. A run never lengthens: no target is beyond the last of the present
// ones; a run just started has its path's end there. Asked again with the answer as present targets, it gives the same
// answer.
std::map<RunId, std::vector<Target>> NeededTargets(const SearchPlan& plan, const std::vector<RunView>& runs,
                                                   const std::vector<OpenLineage>& open);

}  // namespace espalier
