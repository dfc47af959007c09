#include "worker/script/program_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#include "base/text.h"
#include "worker/process/worker_family.h"

namespace espalier::script {
namespace {

constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;  // a longer one is cut
constexpr std::size_t kSaidLinesMax = 100;
constexpr std::size_t kSaidBytesMax = 4096;

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe OpenPipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) == 0) fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {ends[0], ends[1]};
}

// In the child, where only what is safe after a fork may be called.
[[noreturn]] void BecomeProgram(char* const* words, const char* folder, const Pipe& output, const Pipe& errors,
                                pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  for (const int each : {SIGINT, SIGTERM, SIGPIPE}) ::signal(each, SIG_DFL);  // the worker may ignore them
  const int input = open("/dev/null", O_RDONLY);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output.write, STDOUT_FILENO) < 0 ||
      dup2(errors.write, STDERR_FILENO) < 0) {
    _exit(1);
  }
  close_range(STDERR_FILENO + 1, ~0U, 0);
  if (chdir(folder) == 0) execvp(words[0], words);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", words[0], strerrordesc_np(errno));
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<ProgramRun>> ProgramRun::Start(const std::vector<std::string>& command,
                                                      const std::filesystem::path& folder, const std::string& mark) {
  std::vector<std::string> texts = command;
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  setenv(worker::kFamilyVariable, mark.c_str(), /*overwrite=*/1);
  setenv("PYTHONUNBUFFERED", "1", /*overwrite=*/1);  // a line is heard when it is written
  const Pipe output = OpenPipe();
  const Pipe errors = OpenPipe();
  const pid_t parent = getpid();
  const pid_t pid = output.read < 0 || errors.read < 0 ? -1 : fork();
  if (pid == 0) BecomeProgram(words.data(), folder.c_str(), output, errors, parent);
  close(output.write);
  close(errors.write);
  if (pid > 0) {
    setpgid(pid, pid);  // here too: it may be killed before it comes to that
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    return std::unique_ptr<ProgramRun>(new ProgramRun(pid, pidfd, output.read, errors.read, mark));
  }
  close(output.read);
  close(errors.read);
  return MakeError(ErrorCode::kResourceExhausted, "no process for " + command.front() + ": " + std::strerror(errno));
}

ProgramRun::ProgramRun(pid_t pid, int pidfd, int output, int errors, std::string mark)
    : pid_(pid), pidfd_(pidfd), mark_(std::move(mark)), output_{.fd = output}, errors_{.fd = errors} {}

ProgramRun::~ProgramRun() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  worker::KillFamily(mark_);
  close(pidfd_);
  Close(output_);
  Close(errors_);
}

std::optional<std::string> ProgramRun::NextLine(const std::function<void()>& hear) {
  while (output_.lines.empty() && !ended_) Wait(hear);
  if (output_.lines.empty() && !output_.rest.empty()) output_.lines.push_back(std::exchange(output_.rest, {}));
  if (output_.lines.empty()) return std::nullopt;
  std::string line = std::move(output_.lines.front());
  output_.lines.pop_front();
  return line;
}

void ProgramRun::Wait(const std::function<void()>& hear) {
  std::array<pollfd, 3> waiting{
      {{output_.fd, POLLIN, 0}, {errors_.fd, POLLIN, 0}, {.fd = pidfd_, .events = POLLIN, .revents = 0}}};
  poll(waiting.data(), waiting.size(), -1);
  // Its end is looked for first: what it said before is in the pipes then.
  if (waiting[2].revents != 0 && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  Read(output_);
  Read(errors_);
  PassOnErrors();
  hear();
}

// All that is there.
void ProgramRun::Read(Stream& stream) {
  std::array<char, 1 << 16> bytes;
  while (stream.fd >= 0) {
    const ssize_t count = read(stream.fd, bytes.data(), bytes.size());
    if (count < 0) return;
    if (count == 0) return Close(stream);
    stream.rest.append(bytes.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = stream.rest.find('\n'); end != std::string::npos; end = stream.rest.find('\n', begin)) {
      stream.lines.push_back(stream.rest.substr(begin, end - begin));
      begin = end + 1;
    }
    stream.rest.erase(0, begin);
    if (stream.rest.size() > kLineBytesMax) stream.lines.push_back(std::exchange(stream.rest, {}));
  }
}

void ProgramRun::Close(Stream& stream) {
  if (stream.fd >= 0) close(std::exchange(stream.fd, -1));
}

void ProgramRun::PassOnErrors() {
  if (ended_ && !errors_.rest.empty()) errors_.lines.push_back(std::exchange(errors_.rest, {}));
  for (const std::string& line : errors_.lines) {
    std::cerr << line << std::endl;
    Remember(line);
  }
  errors_.lines.clear();
}

void ProgramRun::Log(const std::string& line) {
  std::cout << line << std::endl;
  Remember(line);
}

void ProgramRun::Remember(const std::string& line) {
  said_.push_back(CleanText(line, kSaidBytesMax));
  if (said_.size() > kSaidLinesMax) said_.pop_front();
}

int ProgramRun::signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

std::string ProgramRun::End() const {
  std::string text = signal() != 0
                         ? "was killed by signal " + std::to_string(signal()) + " (" + strsignal(signal()) + ")"
                         : "ended with status " + std::to_string(WEXITSTATUS(status_));
  for (const std::string& line : said_) text += "\n" + line;
  return text;
}

}  // namespace espalier::script
