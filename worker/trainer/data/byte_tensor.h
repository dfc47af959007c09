// A file's bytes as a tensor, without a copy: what is not used is not read.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/trainer/data/file_bytes.h"

namespace espalier::trainer {

// uint8, not to be written to. It keeps the file in memory. Strides are in bytes. REQUIRES: it lies within the file.
at::Tensor BytesOf(const std::shared_ptr<const FileBytes>& file, std::int64_t offset,
                   const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides);

// As they lie there, one after another. Same requirement.
at::Tensor BytesOf(const std::shared_ptr<const FileBytes>& file, std::int64_t offset,
                   const std::vector<std::int64_t>& sizes);

}  // namespace espalier::trainer
