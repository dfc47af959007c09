// The binary version of CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html): for each image a byte of label, then
// 32x32 bytes of red, of green and of blue.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "worker/trainer/data/classification.h"

namespace espalier::trainer {

inline constexpr std::int64_t kCifarClassCount = 10;

// The images of all files, one after another: uint8, n x 3 x 32 x 32. Those of a single file that is not packed are not
// copied. Error: a file cannot be read, or is none of this format. REQUIRES: at least one path.
Result<LabeledSamples> ReadCifar(const std::vector<std::filesystem::path>& paths);

}  // namespace espalier::trainer
