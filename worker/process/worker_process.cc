#include "worker/process/worker_process.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/clock.h"
#include "base/text.h"
#include "worker/process/control_group.h"
#include "worker/process/log_ring.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_template.h"

namespace espalier::worker {
namespace {

constexpr std::streamoff kLastWordsBytes = 4096;
// Of who waits for a worker from a template, which may have much to import from a slow disk.
constexpr Seconds kBirthPatience{60};

// REQUIRES: nobody is there.
void RemoveFoldersOf(const WorkerPlace& place) {
  std::error_code ignored;
  if (!place.control_group.empty()) RemoveGroup(place.control_group);
  if (!place.temporary.empty()) std::filesystem::remove_all(place.temporary, ignored);
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const std::vector<std::string>& command,
                                                            const std::filesystem::path& log, const std::string& mark,
                                                            const WorkerPlace& place,
                                                            std::shared_ptr<WorkerTemplate> from) {
  auto launch = PrepareLaunch(command, log, mark, place);
  if (launch.has_value()) {
    std::unique_ptr<WorkerProcess> process(new WorkerProcess(*launch, log));
    const Result<void> begun = process->Begin(*std::move(launch), std::move(from));
    if (begun.has_value()) return process;
    launch = tl::unexpected(begun.error());
  }
  RemoveFoldersOf(place);
  return tl::unexpected(launch.error());
}

WorkerProcess::WorkerProcess(WorkerLaunch& launch, std::filesystem::path log)
    : channel_(launch.our_socket.Take()),
      log_(std::move(log)),
      mark_(launch.mark),
      place_(launch.place),
      memory_kills_(MemoryKillsHere()) {}

Result<void> WorkerProcess::Begin(WorkerLaunch launch, std::shared_ptr<WorkerTemplate> from) {
  const auto python_worker = AsPythonWorker(launch.command);
  if (from != nullptr && python_worker.has_value()) {
    Result<Handle> birth = from->Ask(launch, python_worker->arguments);
    if (birth.has_value()) {
      birth_.emplace(Birth{*std::move(birth), std::move(launch), std::move(from), MonotonicNow()});
      return {};
    }
  }
  Result<pid_t> pid = Execute(launch);
  if (pid.has_value()) {
    pid_ = *pid;
    return {};
  }
  ended_ = true;
  return tl::unexpected(pid.error());
}

WorkerProcess::~WorkerProcess() {
  if (ended_) return;
  Kill();
  if (pid_ > 0) waitpid(pid_, &status_, 0);
  RemoveWhatIsLeft();
}

void WorkerProcess::NoticeBirth() {
  if (!birth_.has_value()) return;
  pid_t pid = 0;
  const ssize_t count = recv(birth_->handle.get(), &pid, sizeof(pid), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  const Birth birth = *std::exchange(birth_, std::nullopt);
  if (count == sizeof(pid)) {
    pid_ = pid;
    birth.from->CountBirth();
    return;
  }
  birth.from->Kill();
  const Result<pid_t> executed = Execute(birth.launch);
  if (executed.has_value()) {
    pid_ = *executed;
  } else {
    dprintf(birth.launch.log.get(), "%s\n", executed.error().message.c_str());
  }
}

void WorkerProcess::Kill() {
  if (ended_) return;
  NoticeBirth();
  if (birth_.has_value() && MonotonicNow() - birth_->asked_at > kBirthPatience) birth_->from->Kill();
  birth_.reset();
  if (pid_ == 0 || kill(-pid_, SIGKILL) == 0) was_killed_ = true;
  if (!place_.control_group.empty()) SignalGroup(place_.control_group);  // it may not have come to enter it yet
}

bool WorkerProcess::HasEnded() {
  if (ended_) return true;
  NoticeBirth();
  if (birth_.has_value()) return false;
  if (pid_ == 0) {
    status_ = SIGKILL;  // of one that was never born
  } else if (waitpid(pid_, &status_, WNOHANG) != pid_) {
    return false;
  }
  ended_ = true;
  if (!was_killed_ && WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL) {
    cause_ = WasKilledForMemory() ? WorkerDeath::Cause::kOutOfMemory : WorkerDeath::Cause::kKilledByOthers;
  }
  RemoveWhatIsLeft();
  return true;
}

bool WorkerProcess::WasKilledForMemory() const {
  const auto own = place_.control_group.empty() ? std::nullopt : MemoryKillsIn(place_.control_group);
  return own.has_value() ? *own > 0 : MemoryKillsHere() > memory_kills_;
}

void WorkerProcess::RemoveWhatIsLeft() {
  KillFamily(mark_, place_.control_group);
  RemoveFoldersOf(place_);
}

std::string WorkerProcess::LastWords(std::int64_t from) const {
  std::string text = WIFSIGNALED(status_) ? std::string("killed by signal ") + strsignal(WTERMSIG(status_))
                                          : "exited with status " + std::to_string(WEXITSTATUS(status_));
  if (cause_ == WorkerDeath::Cause::kOutOfMemory) text += ", by the kernel: memory did not suffice";
  std::ifstream file(log_, std::ios::binary | std::ios::ate);
  if (!file) return text;
  const std::streamoff size = file.tellg();
  file.seekg(std::clamp<std::streamoff>(size - kLastWordsBytes, std::min<std::streamoff>(from, size), size));
  std::string words{std::istreambuf_iterator<char>(file), {}};
  words = CleanText(std::move(words));  // a log may hold anything, and the cut may fall into a letter
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words.empty() ? text : text + "\n" + words;
}

void WorkerProcess::TrimLog(std::uintmax_t bytes_max) { PutOpenLogAside(log_, bytes_max); }

}  // namespace espalier::worker
