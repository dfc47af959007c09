#include "worker/trainer/data/byte_tensor.h"

#include <ATen/ops/from_blob.h>

#include "base/check.h"

namespace espalier::trainer {

at::Tensor BytesOf(const std::shared_ptr<const FileBytes>& file, std::int64_t offset,
                   const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides) {
  std::int64_t last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  ESPALIER_CHECK(offset >= 0 && last < static_cast<std::int64_t>(file->bytes().size()));
  char* const begin = const_cast<char*>(file->bytes().data()) + offset;
  return at::from_blob(
      begin, sizes, strides, [file](void*) {}, at::TensorOptions(at::kByte));
}

at::Tensor BytesOf(const std::shared_ptr<const FileBytes>& file, std::int64_t offset,
                   const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * sizes[i - 1];
  return BytesOf(file, offset, sizes, strides);
}

}  // namespace espalier::trainer
