// Inputs of a scale that networks learn well from.
#pragma once

#include "worker/trainer/data/classification.h"

namespace espalier::trainer {

// The data set, with offset and factor such that what a network is given has mean 0 and deviation 1 over the training
// samples: of each channel of uint8 images (n x channels x height x width), of each column of float32 tables
// (n x columns). What does not vary becomes 0. The sums do not depend on the machine.
Classification Standardised(LabeledSamples training, LabeledSamples validation, std::int64_t class_count);

}  // namespace espalier::trainer
