#include "worker/process/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/text.h"
#include "worker/process/worker_family.h"

namespace espalier::worker {
namespace {

constexpr int kWorkerSocket = 3;
constexpr std::uintmax_t kLogBytesMax = 4u << 20;
constexpr std::streamoff kLastWordsBytes = 4096;

Result<int> OpenLog(const std::filesystem::path& log) {
  std::error_code ignored;
  std::filesystem::rename(log, log.string() + ".previous", ignored);
  const int fd = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return MakeError(ErrorCode::kInternal, "cannot write " + log.string() + ": " + std::strerror(errno));
  return fd;
}

// In the child, where only what is safe after a fork may be called.
[[noreturn]] void BecomeWorker(char* const* arguments, char* const* environment, int socket, int log, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  // A service manager stops every process; what happens then is the node manager's decision.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = open("/dev/null", O_RDONLY);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0 ||
      dup2(socket, kWorkerSocket) < 0) {
    _exit(1);
  }
  if (socket == kWorkerSocket) fcntl(socket, F_SETFD, 0);
  close_range(kWorkerSocket + 1, ~0U, 0);
  execvpe(arguments[0], arguments, environment);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", arguments[0], strerrordesc_np(errno));
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const std::vector<std::string>& command,
                                                            const std::filesystem::path& log, const std::string& mark) {
  ESPALIER_ASSIGN(const int log_fd, OpenLog(log));
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    close(log_fd);
    return MakeError(ErrorCode::kResourceExhausted, std::string("no socket for a worker: ") + std::strerror(errno));
  }
  std::vector<std::string> words = command;
  words.insert(words.end(), {"--fd", std::to_string(kWorkerSocket)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string variable = std::string(kFamilyVariable) + "=" + mark;
  std::vector<char*> environment{variable.data()};
  for (char** each = environ; *each != nullptr; ++each) environment.push_back(*each);
  environment.push_back(nullptr);
  const pid_t parent = getpid();
  const std::int64_t memory_kills = MemoryKillsHere();
  const pid_t pid = fork();
  if (pid == 0) BecomeWorker(arguments.data(), environment.data(), sockets[1], log_fd, parent);
  setpgid(pid, pid);  // here too: it may be killed before it comes to that
  close(sockets[1]);
  close(log_fd);
  if (pid < 0) {
    close(sockets[0]);
    return MakeError(ErrorCode::kResourceExhausted, std::string("no process for a worker: ") + std::strerror(errno));
  }
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, sockets[0], log, mark, memory_kills));
}

WorkerProcess::WorkerProcess(pid_t pid, int socket, std::filesystem::path log, std::string mark,
                             std::int64_t memory_kills)
    : pid_(pid), channel_(socket), log_(std::move(log)), mark_(std::move(mark)), memory_kills_(memory_kills) {}

WorkerProcess::~WorkerProcess() {
  if (ended_) return;
  Kill();
  waitpid(pid_, &status_, 0);
  KillFamily(mark_);
}

void WorkerProcess::Kill() {
  if (!ended_ && kill(-pid_, SIGKILL) == 0) was_killed_ = true;
}

bool WorkerProcess::HasEnded() {
  if (ended_ || waitpid(pid_, &status_, WNOHANG) != pid_) return ended_;
  ended_ = true;
  if (!was_killed_ && WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL) {
    const bool for_memory = MemoryKillsHere() > memory_kills_;
    cause_ = for_memory ? WorkerDeath::Cause::kOutOfMemory : WorkerDeath::Cause::kKilledByOthers;
  }
  KillFamily(mark_);
  return true;
}

std::string WorkerProcess::LastWords() const {
  std::string text = WIFSIGNALED(status_) ? std::string("killed by signal ") + strsignal(WTERMSIG(status_))
                                          : "exited with status " + std::to_string(WEXITSTATUS(status_));
  if (cause_ == WorkerDeath::Cause::kOutOfMemory) text += ", by the kernel: memory did not suffice";
  std::ifstream file(log_, std::ios::binary | std::ios::ate);
  if (!file) return text;
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kLastWordsBytes));
  std::string words{std::istreambuf_iterator<char>(file), {}};
  words = CleanText(std::move(words));  // a log may hold anything, and the cut may fall into a letter
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words.empty() ? text : text + "\n" + words;
}

void WorkerProcess::TrimLog() {
  std::error_code error;
  if (std::filesystem::file_size(log_, error) > kLogBytesMax && !error) std::filesystem::resize_file(log_, 0, error);
}

}  // namespace espalier::worker
