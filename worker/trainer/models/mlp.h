// The built-in trainer `mlp`: a multi-layer perceptron that classifies, with two hidden layers of `hidden` units each,
// ReLU and dropout behind both, trained on the cross entropy by SGD or Adam.
// Hyper-parameters: lr, bs, momentum (of SGD alone), weight_decay, dropout, optimizer (sgd, adam); initial: hidden,
// seed. A changed optimizer starts with a fresh state; the batch size may change within an epoch.
#pragma once

#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// On the data set `digits`.
TrainerKind MlpOnDigits();

}  // namespace espalier::trainer
