#include "worker/process/worker_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace espalier::worker {

WorkerChannel::WorkerChannel(int socket) : socket_(socket) {}

WorkerChannel::~WorkerChannel() { close(socket_); }

Result<void> WorkerChannel::Send(std::string_view message) {
  ESPALIER_ASSIGN(const std::string frame, FrameOf(message));
  unsent_ += frame;
  return Flush();
}

Result<void> WorkerChannel::Flush() {
  while (!unsent_.empty()) {
    const ssize_t sent = send(socket_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent < 0) {
      closed_ = true;
      return MakeError(ErrorCode::kUnavailable, std::string("cannot write to the worker: ") + std::strerror(errno));
    }
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  return {};
}

std::vector<std::string> WorkerChannel::Receive() {
  std::array<char, 65536> piece;
  std::vector<std::string> messages;
  const auto take_whole = [&] {
    while (!closed_) {
      Result<std::optional<std::string>> message = reader_.Next();
      if (!message.has_value()) closed_ = true;
      if (closed_ || !message->has_value()) return;
      messages.push_back(std::move(**message));
    }
  };
  for (;;) {
    const ssize_t count = recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) {
      reader_.Append({piece.data(), static_cast<std::size_t>(count)});
      take_whole();  // a worker that never stops writing fills no memory
      continue;
    }
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) closed_ = true;
    return messages;
  }
}

}  // namespace espalier::worker
