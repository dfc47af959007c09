// IDX, the format of the original MNIST (http://yann.lecun.com/exdb/mnist, "file formats"): a head, then an array.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>

#include "base/result.h"

namespace espalier::trainer {

// An array of bytes, not copied from the file unless that is packed (.gz). Error: it cannot be read, is no IDX file of
// bytes, or is longer or shorter than its head says.
Result<at::Tensor> ReadIdx(const std::filesystem::path& path);

}  // namespace espalier::trainer
