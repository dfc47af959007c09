#include "worker/protocol/message_socket.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace espalier::worker {

Result<std::optional<std::string>> MessageSocket::Read() {
  while (true) {
    ESPALIER_ASSIGN(std::optional<std::string> message, reader_.Next());
    if (message.has_value()) return message;
    std::array<char, 65536> piece;
    const ssize_t got = recv(fd_, piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return std::nullopt;
    if (got < 0) return MakeError(ErrorCode::kInternal, std::string("cannot read the socket: ") + std::strerror(errno));
    reader_.Append({piece.data(), static_cast<std::size_t>(got)});
  }
}

Result<void> MessageSocket::Write(std::string_view message) {
  ESPALIER_ASSIGN(const std::string frame, FrameOf(message));
  const std::lock_guard lock(writing_);
  std::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t sent = send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
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

}  // namespace espalier::worker
