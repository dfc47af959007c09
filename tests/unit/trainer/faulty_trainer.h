// A trainer whose Evaluate fails as its hyper-parameter "fault" says: "none", "own" (its own error), "memory",
// "library" (an assertion of LibTorch) or "device" (an error of CUDA, in LibTorch's words). It draws from LibTorch's
// random generator when it trains, and when it evaluates.
#pragma once

#include "worker/trainer/trainer.h"

namespace espalier::trainer::test {

TrainerKind FaultyTrainer();

}  // namespace espalier::trainer::test
