#include "worker/trainer/data/idx.h"

#include "worker/trainer/data/byte_tensor.h"

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
  const auto defect = [&](const std::string& what) {
    return MakeError(ErrorCode::kInvalidArgument, path.string() + ": " + what);
  };
  if (!bytes.starts_with(kMagic) || bytes.size() == kMagic.size()) return defect("it is no IDX file of bytes");
  const auto dimension_count = static_cast<unsigned char>(bytes[kMagic.size()]);
  const std::size_t head_bytes = kMagic.size() + 1 + kLengthBytes * dimension_count;
  if (bytes.size() < head_bytes || dimension_count == 0) return defect("its head is too short");
  std::vector<std::int64_t> sizes;
  auto left = static_cast<std::int64_t>(bytes.size() - head_bytes);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dimension_count; ++i) {
    sizes.push_back(LengthAt(bytes, kMagic.size() + 1 + kLengthBytes * i));
    if (sizes.back() == 0 || sizes.back() > left / count) return defect("it is shorter than its head says, or empty");
    count *= sizes.back();
  }
  if (count != left) return defect("it is longer than its head says");
  return BytesOf(file, static_cast<std::int64_t>(head_bytes), sizes);
}

}  // namespace espalier::trainer
