#include "worker/node/worker_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace espalier::node {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::uint32_t kMessageBytesMax = 64u << 20;

std::uint32_t LengthOf(std::string_view bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  return length;
}

}  // namespace

WorkerChannel::WorkerChannel(int socket) : socket_(socket) {}

WorkerChannel::~WorkerChannel() { close(socket_); }

Result<void> WorkerChannel::Send(std::string_view message) {
  std::string frame;
  for (std::size_t i = 0; i < kLengthBytes; ++i) frame += static_cast<char>(message.size() >> (8 * i) & 0xff);
  frame += message;
  std::string_view rest = frame;
  while (!rest.empty()) {
    const ssize_t sent = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      closed_ = true;
      return MakeError(ErrorCode::kUnavailable, std::string("cannot write to the worker: ") + std::strerror(errno));
    }
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

std::vector<std::string> WorkerChannel::Receive() {
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t count = recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) closed_ = true;
    if (count <= 0) break;
    buffer_.append(piece.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> messages;
  std::size_t begin = 0;
  while (buffer_.size() - begin >= kLengthBytes) {
    const std::uint32_t length = LengthOf(std::string_view(buffer_).substr(begin));
    if (length > kMessageBytesMax) closed_ = true;
    if (closed_ && length > kMessageBytesMax) break;
    if (buffer_.size() - begin - kLengthBytes < length) break;
    messages.push_back(buffer_.substr(begin + kLengthBytes, length));
    begin += kLengthBytes + length;
  }
  buffer_.erase(0, begin);
  return messages;
}

}  // namespace espalier::node
