#include "client/cli/up/child_process.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "client/cli/up/file_descriptor.h"
#include "client/cli/up/system_error.h"

namespace espalier {
namespace {

constexpr off_t kLogBytesMax = 8 << 20;

// Everything the child's side needs, made before the fork: after it only plain system calls are allowed.
struct Prepared {
  const ChildCommand& command;
  std::vector<char*> arguments;
  FileDescriptor log;
  FileDescriptor nothing;
  pid_t parent;
};

[[noreturn]] void FailInChild(const char* what) {
  const char* reason = strerrordesc_np(errno);
  for (const char* part : {"cannot ", what, ": ", reason, "\n"}) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  _exit(127);
}

void BecomeUser(const SystemUser& user) {
  if (setgroups(1, &user.group) != 0) FailInChild("set groups");
  if (setgid(user.group) != 0) FailInChild("change group");
  if (setuid(user.user) != 0) FailInChild("change user");
}

[[noreturn]] void RunInChild(const Prepared& prepared) {
  setpgid(0, 0);
  dup2(prepared.nothing.Get(), STDIN_FILENO);
  dup2(prepared.log.Get(), STDOUT_FILENO);
  dup2(prepared.log.Get(), STDERR_FILENO);
  if (chdir("/") != 0) FailInChild("enter /");
  if (prepared.command.user.has_value()) BecomeUser(*prepared.command.user);
  // After the change of user, which clears it. The parent may have died before this line.
  if (prctl(PR_SET_PDEATHSIG, prepared.command.death_signal) != 0) FailInChild("set the death signal");
  if (getppid() != prepared.parent) _exit(127);
  for (const int descriptor : prepared.command.inherited_descriptors) fcntl(descriptor, F_SETFD, 0);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(prepared.arguments[0], prepared.arguments.data());
  FailInChild(prepared.arguments[0]);
}

}  // namespace

Result<pid_t> StartChild(const ChildCommand& command) {
  Prepared prepared{.command = command, .arguments = {}, .log = {}, .nothing = {}, .parent = getpid()};
  for (const std::string& argument : command.arguments) {
    prepared.arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  prepared.arguments.push_back(nullptr);
  prepared.log = FileDescriptor(open(command.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!prepared.log.IsOpen()) return SystemError("write " + command.log_file);
  prepared.nothing = FileDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t child = fork();
  if (child < 0) return SystemError("start " + command.arguments[0]);
  if (child == 0) RunInChild(prepared);
  setpgid(child, child);  // here too: whoever comes first, the group exists when this function returns
  return child;
}

void RotateLog(const std::string& log_file) {
  struct stat status;
  if (stat(log_file.c_str(), &status) != 0 || status.st_size <= kLogBytesMax) return;
  std::rename(log_file.c_str(), (log_file + ".1").c_str());
}

std::string DescribeEnd(int wait_status) {
  if (WIFEXITED(wait_status)) return "exit status " + std::to_string(WEXITSTATUS(wait_status));
  const int number = WTERMSIG(wait_status);
  return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void KillRemainingChildren() {
  const std::string list = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  bool any = true;
  while (any) {
    any = false;
    std::ifstream file(list);
    for (pid_t child; file >> child;) {
      any = true;
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
}

}  // namespace espalier
