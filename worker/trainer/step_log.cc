#include "worker/trainer/step_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

namespace espalier::trainer {

StepLog::StepLog(std::string path, std::int64_t run_id) : path_(std::move(path)), run_id_(run_id) {}

StepLog::~StepLog() {
  if (fd_ >= 0) close(fd_);
}

Result<void> StepLog::Open() {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ >= 0) return {};
  return MakeError(ErrorCode::kInternal, "cannot open the step log " + path_ + ": " + std::strerror(errno));
}

Result<void> StepLog::Append(std::int64_t step, double seconds) {
  std::array<char, 80> line{};
  const int length = std::snprintf(line.data(), line.size(), "%" PRId64 " %" PRId64 " %.6f\n", run_id_, step, seconds);
  if (write(fd_, line.data(), static_cast<std::size_t>(length)) == length) return {};
  return MakeError(ErrorCode::kInternal, "cannot append to the step log " + path_ + ": " + std::strerror(errno));
}

}  // namespace espalier::trainer
