#include "worker/process/worker_launch.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "worker/process/log_ring.h"
#include "worker/process/worker_family.h"

namespace espalier::worker {
namespace {

constexpr int kWorkerSocket = 3;

Result<Handle> OpenLog(const std::filesystem::path& log) {
  PutLogAside(log);
  Handle handle(open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC, 0644));
  if (handle.is_open()) return handle;
  return MakeError(ErrorCode::kInternal, "cannot write " + log.string() + ": " + std::strerror(errno));
}

Result<void> MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  return MakeError(ErrorCode::kInternal, "cannot make " + folder.string() + ": " + error.message());
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
  add(kMemorySettings);
  return given;
}

Handle OpenGroup(const std::filesystem::path& group, int log) {
  if (group.empty()) return {};
  Handle procs(open((group / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!procs.is_open()) dprintf(log, "cannot open its control group: %s\n", strerrordesc_np(errno));
  return procs;
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
[[noreturn]] void BecomeWorker(const WorkerLaunch& launch, char* const* arguments, char* const* environment,
                               pid_t parent) {
  const int log = launch.log.get();
  const int socket = launch.worker_socket.get();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  EnterGroup(launch.group.get(), log);
  TakePlace(launch.place);
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

Result<WorkerLaunch> PrepareLaunch(const std::vector<std::string>& command, const std::filesystem::path& log,
                                   const std::string& mark, const WorkerPlace& place) {
  ESPALIER_ASSIGN(Handle log_handle, OpenLog(log));
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return MakeError(ErrorCode::kResourceExhausted, std::string("no socket for a worker: ") + std::strerror(errno));
  }
  Handle group = OpenGroup(place.control_group, log_handle.get());
  WorkerPlace told = place;
  if (!place.temporary.empty()) {
    ESPALIER_RETURN_IF_ERROR(MakeFolder(place.temporary));
    told.variables.push_back(std::string(kTemporaryVariable) + "=" + place.temporary.string());
  }
  return WorkerLaunch{.command = command,
                      .mark = mark,
                      .place = std::move(told),
                      .our_socket = Handle(sockets[0]),
                      .worker_socket = Handle(sockets[1]),
                      .log = std::move(log_handle),
                      .group = std::move(group)};
}

Result<pid_t> Execute(const WorkerLaunch& launch) {
  std::vector<std::string> words = launch.command;
  words.insert(words.end(), {"--fd", std::to_string(kWorkerSocket)});
  std::vector<std::string> variables = launch.place.variables;
  variables.push_back(std::string(kFamilyVariable) + "=" + launch.mark);
  variables = EnvironmentWith(std::move(variables));
  const std::vector<char*> arguments = Pointers(words);
  const std::vector<char*> environment = Pointers(variables);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeWorker(launch, arguments.data(), environment.data(), parent);
  if (pid < 0) {
    return MakeError(ErrorCode::kResourceExhausted, std::string("no process for a worker: ") + std::strerror(errno));
  }
  setpgid(pid, pid);  // here too: it may be killed before it comes to that
  return pid;
}

}  // namespace espalier::worker
