// The built-in trainer `resnet`: the residual networks for small images of K. He, X. Zhang, S. Ren and J. Sun, "Deep
// Residual Learning for Image Recognition" (2015), section 4.2: 6n+2 layers, 16, 32 and 64 channels, shortcuts without
// parameters. Hyper-parameters: depth (initial: 8, 14, 20, ...), and those of every classifier.
#pragma once

#include "worker/trainer/models/classifier.h"

namespace espalier::trainer {

NetworkKind ResNet();

}  // namespace espalier::trainer
