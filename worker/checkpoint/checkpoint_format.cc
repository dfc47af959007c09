#include "worker/checkpoint/checkpoint_format.h"

#include <unistd.h>

#include <limits>

#include "base/digest.h"
#include "base/failpoint.h"
#include "worker/checkpoint/file.h"

namespace espalier {
namespace {

constexpr std::string_view kMagic = "ESPALIER";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadAt = kMagic.size() + sizeof(std::uint32_t) + sizeof(std::uint32_t) + sizeof(std::uint64_t);
constexpr std::size_t kChecksumLength = sizeof(Digest128::bytes);

template <class Integer>
void AppendLittleEndian(std::string& bytes, Integer value) {
  for (std::size_t i = 0; i < sizeof(value); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

template <class Integer>
Integer ReadLittleEndian(std::string_view bytes) {
  Integer value = 0;
  for (std::size_t i = sizeof(value); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string ChecksumOf(std::string_view bytes) {
  const Digest128 digest = DigestOf(bytes);
  return {digest.bytes.begin(), digest.bytes.end()};
}

struct Frame {
  std::string bytes;
  std::size_t head_length = 0;
};

Result<Frame> ReadFrame(const std::filesystem::path& path) {
  const auto absent = [&](const char* why) {
    return MakeError(ErrorCode::kNotFound, "checkpoint " + path.string() + " " + why);
  };
  Result<std::string> bytes = ReadWholeFile(path);
  if (!bytes.has_value()) {
    const bool is_absent = bytes.error().code == ErrorCode::kNotFound;
    return MakeError(is_absent ? ErrorCode::kNotFound : ErrorCode::kUnavailable, bytes.error().message);
  }
  if (!bytes->starts_with(kMagic)) return absent("is foreign: it does not begin as a checkpoint does");
  if (bytes->size() < kHeadAt + kChecksumLength) return absent("is damaged: it is too short");
  const std::string_view view = *bytes;
  const auto version = ReadLittleEndian<std::uint32_t>(view.substr(kMagic.size()));
  if (version != kVersion) return absent("is of another version");
  const std::uint64_t head_length = ReadLittleEndian<std::uint32_t>(view.substr(kMagic.size() + 4));
  const auto payload_length = ReadLittleEndian<std::uint64_t>(view.substr(kMagic.size() + 8));
  const std::uint64_t content_length = view.size() - kHeadAt - kChecksumLength;
  if (head_length > content_length || payload_length != content_length - head_length) {
    return absent("is damaged: its length is not the one it says");
  }
  const std::size_t checked_length = view.size() - kChecksumLength;
  if (ChecksumOf(view.substr(0, checked_length)) != view.substr(checked_length)) {
    return absent("is damaged: its checksum does not match");
  }
  return Frame{std::move(*bytes), static_cast<std::size_t>(head_length)};
}

}  // namespace

Result<void> WriteCheckpointFile(const std::filesystem::path& path, std::string_view head, std::string_view payload) {
  if (head.size() > std::numeric_limits<std::uint32_t>::max()) {
    return MakeError(ErrorCode::kInternal, "cannot write " + path.string() + ": the head is too long");
  }
  std::string bytes;
  bytes.reserve(kHeadAt + head.size() + payload.size() + kChecksumLength);
  bytes += kMagic;
  AppendLittleEndian(bytes, kVersion);
  AppendLittleEndian(bytes, static_cast<std::uint32_t>(head.size()));
  AppendLittleEndian(bytes, static_cast<std::uint64_t>(payload.size()));
  bytes += head;
  bytes += payload;
  bytes += ChecksumOf(bytes);

  std::filesystem::path temporary = path;
  temporary += kTemporarySuffix;
  const auto write = [&]() -> Result<void> {
    ESPALIER_RETURN_IF_ERROR(WriteWholeFile(temporary, bytes));
    ESPALIER_FAILPOINT("worker.save.before_rename");
    return RenameFile(temporary, path);
  };
  Result<void> written = write();
  if (!written.has_value()) {
    unlink(temporary.c_str());
    written.error().code = ErrorCode::kInternal;
  }
  return written;
}

Result<CheckpointFile> ReadCheckpointFile(const std::filesystem::path& path) {
  ESPALIER_ASSIGN(Frame frame, ReadFrame(path));
  CheckpointFile file;
  file.head = frame.bytes.substr(kHeadAt, frame.head_length);
  // In place, so that a large payload is not held twice.
  file.payload = std::move(frame.bytes);
  file.payload.resize(file.payload.size() - kChecksumLength);
  file.payload.erase(0, kHeadAt + file.head.size());
  return file;
}

Result<std::string> ReadCheckpointHead(const std::filesystem::path& path) {
  ESPALIER_ASSIGN(const Frame frame, ReadFrame(path));
  return frame.bytes.substr(kHeadAt, frame.head_length);
}

}  // namespace espalier
