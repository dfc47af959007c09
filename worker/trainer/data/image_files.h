// Data sets of images as their authors give them away: MNIST (and what has its form, such as Fashion-MNIST) and the
// binary version of CIFAR-10. Files may be packed (.gz).
#pragma once

#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {

// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte.
std::optional<DataFiles> FindMnist(const std::filesystem::path& folder);

// data_batch_1.bin, data_batch_2.bin, ... and test_batch.bin.
std::optional<DataFiles> FindCifar(const std::filesystem::path& folder);

}  // namespace espalier::trainer
