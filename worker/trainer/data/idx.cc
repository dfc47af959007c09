#include "worker/trainer/data/idx.h"

#include "worker/trainer/data/byte_tensor.h"
#include "worker/trainer/data/data_files.h"

namespace espalier::trainer {
namespace {

// The head: two zero bytes, the type of the elements, the number of dimensions, and their lengths, highest byte first.
constexpr std::string_view kMagic("\0\0\x08", 3);
constexpr std::size_t kLengthBytes = 4;

std::int64_t LengthAt(std::string_view bytes, std::size_t at) {
  std::int64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length = length << 8 | static_cast<unsigned char>(bytes[at + i]);
  return length;
}

}  // namespace

Result<at::Tensor> ReadIdx(const std::filesystem::path& path) {
  ESPALIER_ASSIGN(const std::shared_ptr<const FileBytes> file, FileBytes::Open(path));
  const std::string_view bytes = file->bytes();
  if (!bytes.starts_with(kMagic) || bytes.size() == kMagic.size()) {
    return Malformed(path, "it does not begin as an IDX file of bytes does: 0, 0, 8 and the number of dimensions");
  }
  const auto dimension_count = static_cast<unsigned char>(bytes[kMagic.size()]);
  const std::size_t head_bytes = kMagic.size() + 1 + kLengthBytes * dimension_count;
  if (bytes.size() < head_bytes || dimension_count == 0) {
    return Malformed(path,
                     "byte 3: its head ends before the lengths of " + std::to_string(dimension_count) + " dimensions");
  }
  std::vector<std::int64_t> sizes;
  auto left = static_cast<std::int64_t>(bytes.size() - head_bytes);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dimension_count; ++i) {
    sizes.push_back(LengthAt(bytes, kMagic.size() + 1 + kLengthBytes * i));
    if (sizes.back() == 0 || sizes.back() > left / count) {
      return Malformed(path, "byte " + std::to_string(kMagic.size() + 1 + kLengthBytes * i) +
                                 ": it is shorter than its head says, or empty");
    }
    count *= sizes.back();
  }
  if (count != left) {
    return Malformed(path, "byte " + std::to_string(bytes.size() - static_cast<std::size_t>(left - count)) +
                               ": it is longer than its head says");
  }
  return BytesOf(file, static_cast<std::int64_t>(head_bytes), sizes);
}

}  // namespace espalier::trainer
