// The trainers that are compiled into the worker.
#pragma once

#include <vector>

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// Sorted by (name, data). A new trainer is a file in models/ and a line in registry.cc.
std::vector<TrainerKind> BuiltInTrainers();

}  // namespace espalier::trainer
