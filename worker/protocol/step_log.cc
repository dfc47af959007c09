#include "worker/protocol/step_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace espalier::worker {

StepLog::~StepLog() { Close(); }

StepLog::StepLog(StepLog&& other) noexcept : run_(other.run_), fd_(std::exchange(other.fd_, -1)) {}

StepLog& StepLog::operator=(StepLog&& other) noexcept {
  std::swap(run_, other.run_);
  std::swap(fd_, other.fd_);
  return *this;
}

Result<void> StepLog::Begin(const std::string& path, RunId run) {
  Close();
  run_ = run;
  if (path.empty()) return {};
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ >= 0) return {};
  return MakeError(ErrorCode::kInvalidArgument, "cannot open the step log " + path + ": " + std::strerror(errno));
}

Result<void> StepLog::Append(Step step, Seconds time) {
  if (fd_ < 0) return {};
  const std::string line =
      std::to_string(run_.value) + " " + std::to_string(step.value) + " " + std::to_string(time.count()) + "\n";
  if (write(fd_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) return {};
  return MakeError(ErrorCode::kInternal, std::string("cannot append to the step log: ") + std::strerror(errno));
}

void StepLog::Close() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace espalier::worker
