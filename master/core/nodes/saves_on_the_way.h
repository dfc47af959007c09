// Where a run saves as it passes although no claim needs the state yet: open trials may go on from there (law 3), and a
// failure would lose what was not saved.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "master/core/reactor.h"
#include "master/core/state/master_state.h"
#include "scheduler/node_prices.h"

namespace espalier::master {

// Steps of the run's path before its end, ascending: where an open trial has its last claim; and where open lineages
// part from the path or end, if (chance that a trial goes on) x (time to train there again from the state before)
// exceeds the price of the save (design section 5). The chance is the share of those that went on from such a state,
// among the study's trials that might have, each time, or that closed without going on, and one more; at first 1. By
// `save_every_steps` at its multiples instead. `owed`: where the run promises a state anyway. A state that would be the
// first to go over the checkpoints' budget once the run has passed on is not saved: what is owed, and what is kept for
// more than this, has taken the room. O(open ends on the path), and its steps / `save_every_steps`.
std::vector<Step> SavesOnTheWay(const MasterState& state, const Run& run, const std::set<Step>& owed,
                                const ReactorSettings& settings);

// After how long without one a run saves, so that saves and what failures lose cost least together: the square root of
// 2 x save time x time between failures (J. W. Young, A first order approximation to the optimum checkpoint interval,
// CACM 17(9), 1974), by the dearest save on the path, of a second as long as none was measured; at least 20 s. `path`:
// the prices of its stages. O(path).
Seconds SavePeriod(std::span<NodePrices> path, Seconds between_failures);

}  // namespace espalier::master
