// Preemption for fairness' sake, where slots are full: who is due is made room for, by runs of those that have more
// than their share (scheduler/fair_queue.h: ShouldYield). Between teams, else between the studies of one team.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Preempts runs as long as there is somebody whose best path would start in the slot of one that should yield. A run is
// left alone until it has had its slot for ten times what giving it up costs, and ten seconds at least: so preempting
// takes a tenth of a slot's time at most. Paths that take several slots of one device are made no room for. O(runs that
// are preempted x (teams and studies that want something + runs of those that have more)).
void PreemptForDue(Draft& draft);

}  // namespace espalier::master
