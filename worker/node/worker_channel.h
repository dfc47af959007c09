// Frames to and from one worker: a 4-byte little-endian length, then one message of the trainer protocol.
// Not thread-safe; owned by the event loop, which it never makes wait for a worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::node {

class WorkerChannel {
 public:
  // Takes the connected socket over.
  explicit WorkerChannel(int socket);
  ~WorkerChannel();
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;

  int socket() const { return socket_; }
  // The worker closed its end, or writes what is no frame.
  bool closed() const { return closed_; }

  // Requests are small and few are ever unanswered, so that they fit into the socket's buffer.
  // Error: kUnavailable when the worker is gone, or does not read.
  Result<void> Send(std::string_view message);

  // The messages that have arrived whole.
  std::vector<std::string> Receive();

 private:
  const int socket_;
  bool closed_ = false;
  std::string buffer_;
};

}  // namespace espalier::node
