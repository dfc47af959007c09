// Checkpoints within a byte budget: what is worth least goes (scheduler/checkpoint_cache.h), and is trained again if
// somebody asks for what comes after it.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Over the budget: drops the first few, and has a connected server remove their files. What is needed is never dropped:
// it stays over the budget, and says so with each state that is stored. An open trial's state goes when nothing else is
// left. Without a connected server nothing goes. O(dropped x (rows of the cache + plan nodes to the nearest state
// before)), and at most some every event: more follow.
void KeepWithinBudget(Draft& draft);

}  // namespace espalier::master
