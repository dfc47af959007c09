// A real worker process, driven as a node manager does.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "base/check.h"
#include "worker/protocol/message_socket.h"
#include "worker/protocol/worker_message.h"

namespace espalier::trainer::test {

// Nothing if the worker closed the socket.
using Reply = std::optional<worker::ReplyKind>;

template <class Kind>
bool Is(const Reply& reply) {
  return reply.has_value() && std::holds_alternative<Kind>(*reply);
}

template <class Kind>
Kind As(const Reply& reply) {
  ESPALIER_CHECK(Is<Kind>(reply)) << "the worker gave another reply";
  return std::get<Kind>(*reply);
}

class WorkerProcess {
 public:
  // `failpoints` arms it (base/failpoint.h); `prefetch`: how many batches it fetches ahead, none: as many as is usual.
  explicit WorkerProcess(const std::string& failpoints = "", const std::string& prefetch = "");
  // Kills it if it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Sends a request and returns its id.
  std::int64_t Send(worker::RequestKind request);
  // The reply to it, whatever else comes before.
  Reply Await(std::int64_t id);
  Reply Call(worker::RequestKind request) { return Await(Send(std::move(request))); }

  void SendText(const std::string& text);
  void CloseSocket();
  // Waits for its end; the status of waitpid.
  int WaitForExit();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int fd_ = -1;
  std::optional<worker::MessageSocket> socket_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, worker::ReplyKind> replies_;
};

}  // namespace espalier::trainer::test
