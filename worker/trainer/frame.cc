#include "worker/trainer/frame.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>

namespace espalier::trainer {
namespace {

constexpr std::size_t kLengthLength = 4;

// False when the peer closed the socket first.
Result<bool> ReadAll(int fd, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = recv(fd, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return false;
    if (got < 0) return MakeError(ErrorCode::kInternal, std::string("cannot read the socket: ") + std::strerror(errno));
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

Result<std::optional<std::string>> ReadFrame(int fd) {
  std::array<char, kLengthLength> prefix{};
  ESPALIER_ASSIGN(const bool begun, ReadAll(fd, prefix.data(), prefix.size()));
  if (!begun) return std::nullopt;
  std::uint32_t length = 0;
  for (std::size_t i = kLengthLength; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(prefix[i]);
  std::string bytes(length, '\0');
  ESPALIER_ASSIGN(const bool whole, ReadAll(fd, bytes.data(), bytes.size()));
  if (!whole) return std::nullopt;
  return bytes;
}

Result<void> WriteFrame(int fd, std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
    return MakeError(ErrorCode::kInternal, "a message is too long for a frame");
  }
  std::string frame;
  frame.reserve(kLengthLength + bytes.size());
  for (std::size_t i = 0; i < kLengthLength; ++i) frame += static_cast<char>(bytes.size() >> (8 * i) & 0xff);
  frame += bytes;
  std::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t sent = send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      const bool closed = errno == EPIPE || errno == ECONNRESET;
      return MakeError(closed ? ErrorCode::kUnavailable : ErrorCode::kInternal,
                       std::string("cannot write to the socket: ") + std::strerror(errno));
    }
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

}  // namespace espalier::trainer
