// Checkpoints within a byte budget, and within the room of their store: what is worth least goes
// (scheduler/checkpoint_cache.h), and is trained again if somebody asks for what comes after it.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Over the budget, over a team's or user's limit of stored bytes (state/quota.h), or while states that found no room in
// the store wait for some (state/room_wanted.h): drops the first few, and has a connected server remove their files; a
// server whose state still finds no room says so again. What is needed is never dropped: it stays over the budget, or
// waits in staging, and that is said with each state that is stored or finds no room; over a limit, it stops who has it
// (nodes/quotas.h). An open trial's state goes when nothing else is left. Without a connected server nothing goes.
// O(limited parties + dropped x (rows of the cache + plan nodes to the nearest state before)), and at most some every
// event: more follow.
void KeepWithinBudget(Draft& draft);

}  // namespace espalier::master
