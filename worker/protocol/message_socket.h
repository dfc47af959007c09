// Messages of the trainer protocol over a socket, as the worker reads and writes them: waiting until they have passed.
// One thread reads; several may write.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/protocol/frame.h"

namespace espalier::worker {

class MessageSocket {
 public:
  // `fd`: a connected socket, which stays the caller's.
  explicit MessageSocket(int fd) : fd_(fd) {}

  // Waits for a whole message. Nothing if the peer closed the socket before or within it. Error: kInternal when the
  // system gives one; kResourceExhausted for a message that is too long.
  Result<std::optional<std::string>> Read();

  // Returns once all is handed to the system. Error: kUnavailable when the peer closed the socket; kResourceExhausted
  // for a message that is too long, of which nothing is sent; else kInternal.
  Result<void> Write(std::string_view message);

 private:
  const int fd_;
  FrameReader reader_;
  std::mutex writing_;
};

}  // namespace espalier::worker
