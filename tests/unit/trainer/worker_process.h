// A real worker process, driven as a node manager does.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "espalier/v1/trainer.pb.h"

namespace espalier::trainer::test {

class WorkerProcess {
 public:
  // `failpoints` arms it (base/failpoint.h).
  explicit WorkerProcess(const std::string& failpoints = "");
  // Kills it if it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Sends a request and returns its id.
  std::int64_t Send(v1::TrainerRequest request);
  // The reply to it, whatever else comes before. None (kind not set) if the worker closed the socket.
  v1::TrainerReply Await(std::int64_t id);
  v1::TrainerReply Call(const v1::TrainerRequest& request) { return Await(Send(request)); }

  void SendBytes(const std::string& bytes);
  void CloseSocket();
  // Waits for its end; the status of waitpid.
  int WaitForExit();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int fd_ = -1;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, v1::TrainerReply> replies_;
};

}  // namespace espalier::trainer::test
