// Batches of a data set of samples: each epoch takes all of them, in an order of its own.
#pragma once

#include <memory>
#include <vector>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/classification.h"

namespace espalier::trainer {

// At the beginning of epoch 0. REQUIRES: there are samples to train on.
std::unique_ptr<Batches> MakeSampleBatches(std::shared_ptr<const Classification> data, std::uint64_t seed);

}  // namespace espalier::trainer
