// One run of a user's program: a process whose output is read line by line, and which dies whole: with all that it has
// started, when this is destroyed, and when this process ends. Started, read and destroyed on one thread, which lives
// as long as the process: the kernel ties a child's life to the thread that made it.
#pragma once

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace espalier::script {

class ProgramRun {
 public:
  // In the folder, with nothing to read. It and all that it starts carry `mark` (worker/process/worker_family.h).
  // Error: kResourceExhausted when the system gives no process or pipe. A program that cannot be run ends at once.
  static Result<std::unique_ptr<ProgramRun>> Start(const std::vector<std::string>& command,
                                                   const std::filesystem::path& folder, const std::string& mark);
  // Kills what is left of it.
  ~ProgramRun();
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  // Waits for the next line of its standard output; nothing: it has ended, and said nothing more. What it writes to
  // standard error goes to this process's. `hear` is called whenever it has said anything.
  std::optional<std::string> NextLine(const std::function<void()>& hear);
  // A line that is meant for people: goes to this process's standard output.
  void Log(const std::string& line);

  // Of a run that has ended.
  bool succeeded() const { return status_ == 0; }
  // The signal that killed it; 0: none.
  int signal() const;
  // "ended with status 1", "was killed by signal 9 (Killed)"; and the last of what it has said, on lines of its own.
  std::string End() const;

 private:
  // What has come through a pipe.
  struct Stream {
    int fd = -1;
    std::string rest = {};  // of a line that is not whole
    std::deque<std::string> lines = {};
  };

  ProgramRun(pid_t pid, int pidfd, int output, int errors, std::string mark);

  void Wait(const std::function<void()>& hear);
  static void Read(Stream& stream);
  static void Close(Stream& stream);
  void PassOnErrors();
  void Remember(const std::string& line);

  const pid_t pid_;
  const int pidfd_;
  const std::string mark_;
  Stream output_;
  Stream errors_;
  bool ended_ = false;
  int status_ = 0;
  std::deque<std::string> said_;  // the last lines for people
};

}  // namespace espalier::script
