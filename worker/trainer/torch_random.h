// The random generators of this process that trainers draw from, so that an evaluation can be undone in them.
// Not thread-safe: called by the thread that trains.
#pragma once

#include "worker/trainer/state.h"

namespace espalier::trainer {

// As they are now. Throws what LibTorch does.
State TakeRandomGenerators();

// Puts them back to what TakeRandomGenerators returned. Throws what LibTorch does.
void PutBackRandomGenerators(const State& generators);

}  // namespace espalier::trainer
