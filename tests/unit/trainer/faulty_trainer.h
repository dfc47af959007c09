// A trainer whose Evaluate fails as its hyper-parameter "fault" says: "none", "own" (its own error), "memory" or
// "library" (an assertion of LibTorch). It draws from LibTorch's random generator when it trains, and when it
// evaluates.
#pragma once

#include "worker/trainer/trainer.h"

namespace espalier::trainer::test {

TrainerKind FaultyTrainer();

}  // namespace espalier::trainer::test
