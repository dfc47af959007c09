#include "worker/process/worker_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/text.h"
#include "worker/process/control_group.h"
#include "worker/process/log_ring.h"
#include "worker/process/worker_family.h"

namespace espalier::worker {
namespace {

constexpr int kWorkerSocket = 3;
constexpr std::streamoff kLastWordsBytes = 4096;

Result<int> OpenLog(const std::filesystem::path& log) {
  PutLogAside(log);
  const int fd = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return MakeError(ErrorCode::kInternal, "cannot write " + log.string() + ": " + std::strerror(errno));
  return fd;
}

// What execve takes, of texts that live as long.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What is given, then what all workers have, then what this process has of other names, then what it has neither.
std::vector<std::string> EnvironmentWith(std::vector<std::string> given) {
  const auto name_of = [](std::string_view variable) { return variable.substr(0, variable.find('=')); };
  std::set<std::string, std::less<>> names;
  for (const std::string& variable : given) names.emplace(name_of(variable));
  const auto add = [&](const char* variable) {
    if (names.emplace(name_of(variable)).second) given.emplace_back(variable);
  };
  add(kHashSeed);
  for (char** each = environ; *each != nullptr; ++each) add(*each);
  add(kHugePages);
  return given;
}

// By which its child enters the control group; -1: there is none.
int OpenGroup(const std::filesystem::path& group, int log) {
  if (group.empty()) return -1;
  const int fd = open((group / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) dprintf(log, "cannot open its control group: %s\n", strerrordesc_np(errno));
  return fd;
}

// In the child.
void EnterGroup(int group, int log) {
  if (group < 0 || write(group, "0", 1) == 1) return;
  dprintf(log, "cannot enter its control group: %s\n", strerrordesc_np(errno));
}

// In the child.
void TakePlace(const WorkerPlace& place) {
  if (!place.cores.empty()) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (const int core : place.cores) CPU_SET(static_cast<std::size_t>(core), &cores);
    sched_setaffinity(0, sizeof(cores), &cores);
  }
  if (place.memory_bytes > 0) {
    const auto bytes = static_cast<rlim_t>(place.memory_bytes);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }
}

// In the child, where only what is safe after a fork may be called.
[[noreturn]] void BecomeWorker(char* const* arguments, char* const* environment, int socket, int log, int group,
                               pid_t parent, const WorkerPlace& place) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  EnterGroup(group, log);
  TakePlace(place);
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
                                                            const std::filesystem::path& log, const std::string& mark,
                                                            const WorkerPlace& place) {
  auto started = StartIn(command, log, mark, place);
  if (!started.has_value() && !place.control_group.empty()) RemoveGroup(place.control_group);
  return started;
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::StartIn(const std::vector<std::string>& command,
                                                              const std::filesystem::path& log, const std::string& mark,
                                                              const WorkerPlace& place) {
  ESPALIER_ASSIGN(const int log_fd, OpenLog(log));
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    close(log_fd);
    return MakeError(ErrorCode::kResourceExhausted, std::string("no socket for a worker: ") + std::strerror(errno));
  }
  std::vector<std::string> words = command;
  words.insert(words.end(), {"--fd", std::to_string(kWorkerSocket)});
  std::vector<std::string> variables = place.variables;
  variables.push_back(std::string(kFamilyVariable) + "=" + mark);
  variables = EnvironmentWith(std::move(variables));
  const std::vector<char*> arguments = Pointers(words);
  const std::vector<char*> environment = Pointers(variables);
  const pid_t parent = getpid();
  const std::int64_t memory_kills = MemoryKillsHere();
  const int group = OpenGroup(place.control_group, log_fd);
  const pid_t pid = fork();
  if (pid == 0) BecomeWorker(arguments.data(), environment.data(), sockets[1], log_fd, group, parent, place);
  setpgid(pid, pid);  // here too: it may be killed before it comes to that
  close(sockets[1]);
  close(log_fd);
  if (group >= 0) close(group);
  if (pid < 0) {
    close(sockets[0]);
    return MakeError(ErrorCode::kResourceExhausted, std::string("no process for a worker: ") + std::strerror(errno));
  }
  return std::unique_ptr<WorkerProcess>(
      new WorkerProcess(pid, sockets[0], log, mark, place.control_group, memory_kills));
}

WorkerProcess::WorkerProcess(pid_t pid, int socket, std::filesystem::path log, std::string mark,
                             std::filesystem::path group, std::int64_t memory_kills)
    : pid_(pid),
      channel_(socket),
      log_(std::move(log)),
      mark_(std::move(mark)),
      group_(std::move(group)),
      memory_kills_(memory_kills) {}

WorkerProcess::~WorkerProcess() {
  if (ended_) return;
  Kill();
  waitpid(pid_, &status_, 0);
  KillWhatIsLeft();
}

void WorkerProcess::Kill() {
  if (ended_) return;
  if (kill(-pid_, SIGKILL) == 0) was_killed_ = true;
  if (!group_.empty()) SignalGroup(group_);  // it may not have come to enter it yet
}

bool WorkerProcess::HasEnded() {
  if (ended_ || waitpid(pid_, &status_, WNOHANG) != pid_) return ended_;
  ended_ = true;
  if (!was_killed_ && WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL) {
    cause_ = WasKilledForMemory() ? WorkerDeath::Cause::kOutOfMemory : WorkerDeath::Cause::kKilledByOthers;
  }
  KillWhatIsLeft();
  return true;
}

bool WorkerProcess::WasKilledForMemory() const {
  const auto own = group_.empty() ? std::nullopt : MemoryKillsIn(group_);
  return own.has_value() ? *own > 0 : MemoryKillsHere() > memory_kills_;
}

void WorkerProcess::KillWhatIsLeft() {
  KillFamily(mark_, group_);
  if (!group_.empty()) RemoveGroup(group_);
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
