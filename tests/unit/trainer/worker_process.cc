#include "tests/unit/trainer/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "worker/protocol/encoding.h"

namespace espalier::trainer::test {

WorkerProcess::WorkerProcess(const std::string& failpoints, const std::string& prefetch) {
  int fds[2];
  ESPALIER_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  const std::string fd = std::to_string(fds[1]);
  pid_ = fork();
  ESPALIER_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    fcntl(fds[1], F_SETFD, 0);
    setenv("ESPALIER_FAILPOINTS", failpoints.c_str(), 1);
    setenv("ESPALIER_PREFETCH", prefetch.c_str(), 1);
    execl(ESPALIER_WORKER_PATH, "espalier-worker", "--fd", fd.c_str(), nullptr);
    _exit(127);
  }
  close(fds[1]);
  fd_ = fds[0];
  socket_.emplace(fd_);
}

WorkerProcess::~WorkerProcess() {
  CloseSocket();
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  WaitForExit();
}

std::int64_t WorkerProcess::Send(worker::RequestKind request) {
  SendText(worker::Encode({++last_id_, std::move(request)}));
  return last_id_;
}

void WorkerProcess::SendText(const std::string& text) { static_cast<void>(socket_->Write(text)); }

Reply WorkerProcess::Await(std::int64_t id) {
  while (!replies_.contains(id)) {
    const auto message = socket_->Read();
    if (!message.has_value() || !message->has_value()) return {};
    const auto reply = worker::DecodeReply(**message);
    ESPALIER_CHECK(reply.has_value()) << "no reply: " << **message;
    replies_.insert_or_assign(reply->id, reply->kind);
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
