#include "tests/unit/trainer/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "worker/trainer/frame.h"

namespace espalier::trainer::test {

WorkerProcess::WorkerProcess(const std::string& failpoints) {
  int fds[2];
  ESPALIER_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  const std::string fd = std::to_string(fds[1]);
  pid_ = fork();
  ESPALIER_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    fcntl(fds[1], F_SETFD, 0);
    setenv("ESPALIER_FAILPOINTS", failpoints.c_str(), 1);
    execl(ESPALIER_WORKER_PATH, "espalier-worker", "--fd", fd.c_str(), nullptr);
    _exit(127);
  }
  close(fds[1]);
  fd_ = fds[0];
}

WorkerProcess::~WorkerProcess() {
  CloseSocket();
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  WaitForExit();
}

std::int64_t WorkerProcess::Send(v1::TrainerRequest request) {
  request.set_id(++last_id_);
  SendBytes(request.SerializeAsString());
  return last_id_;
}

void WorkerProcess::SendBytes(const std::string& bytes) { static_cast<void>(WriteFrame(fd_, bytes)); }

v1::TrainerReply WorkerProcess::Await(std::int64_t id) {
  while (!replies_.contains(id)) {
    const auto frame = ReadFrame(fd_);
    if (!frame.has_value() || !frame->has_value()) return {};
    v1::TrainerReply reply;
    ESPALIER_CHECK(reply.ParseFromString(**frame));
    replies_[reply.id()] = reply;
  }
  return replies_.at(id);
}

void WorkerProcess::CloseSocket() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

int WorkerProcess::WaitForExit() {
  int status = 0;
  ESPALIER_CHECK(waitpid(pid_, &status, 0) == pid_);
  pid_ = 0;
  return status;
}

}  // namespace espalier::trainer::test
