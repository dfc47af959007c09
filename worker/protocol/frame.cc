#include "worker/protocol/frame.h"

#include <cstdint>

namespace espalier::worker {
namespace {

constexpr std::size_t kLengthBytes = 4;

Result<void> CheckLength(std::size_t length) {
  if (length <= kFrameBytesMax) return {};
  return MakeError(ErrorCode::kResourceExhausted, "a message of the trainer protocol has at most " +
                                                      std::to_string(kFrameBytesMax) + " bytes, got " +
                                                      std::to_string(length));
}

}  // namespace

Result<std::string> FrameOf(std::string_view message) {
  ESPALIER_RETURN_IF_ERROR(CheckLength(message.size()));
  std::string frame;
  frame.reserve(kLengthBytes + message.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) frame += static_cast<char>(message.size() >> (8 * i) & 0xff);
  frame += message;
  return frame;
}

Result<std::optional<std::string>> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  std::uint32_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(rest[i]);
  ESPALIER_RETURN_IF_ERROR(CheckLength(length));
  if (rest.size() - kLengthBytes < length) return std::nullopt;
  std::string message(rest.substr(kLengthBytes, length));
  begin_ += kLengthBytes + length;
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > kFrameBytesMax) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return message;
}

}  // namespace espalier::worker
