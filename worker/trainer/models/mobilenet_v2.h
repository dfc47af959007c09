// The built-in trainer `mobilenet_v2`: the network of M. Sandler, A. Howard, M. Zhu, A. Zhmoginov and L.-C. Chen,
// "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018), table 2, for small images: of its five halvings the
// first two are left out. Hyper-parameters: width (initial: what channels are multiplied by), dropout (before the last
// layer), and those of every classifier.
#pragma once

#include "worker/trainer/models/classifier.h"

namespace espalier::trainer {

NetworkKind MobileNetV2();

}  // namespace espalier::trainer
