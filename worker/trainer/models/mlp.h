// The built-in trainer `mlp`: two hidden layers over what it takes as a vector of numbers. Hyper-parameters: hidden
// (initial: units a layer), dropout (behind each hidden layer), and those of every classifier.
#pragma once

#include "worker/trainer/models/classifier.h"

namespace espalier::trainer {

NetworkKind Mlp();

}  // namespace espalier::trainer
