// Frames to and from one worker. Not thread-safe; owned by the event loop, which it never makes wait for a worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "worker/protocol/frame.h"

namespace espalier::worker {

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
  // Something waits until the worker reads: Flush when the socket takes more.
  bool has_unsent() const { return !closed_ && !unsent_.empty(); }

  // Sends it behind what waits already. Error: kUnavailable when the worker is gone; kResourceExhausted when it is
  // longer than a frame may be.
  Result<void> Send(std::string_view message);
  Result<void> Flush();

  // The messages that have arrived whole.
  std::vector<std::string> Receive();

 private:
  const int socket_;
  bool closed_ = false;
  std::string unsent_;
  FrameReader reader_;
};

}  // namespace espalier::worker
