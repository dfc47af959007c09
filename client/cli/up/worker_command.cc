#include "client/cli/up/worker_command.h"

#include <filesystem>

#include "base/programs.h"
#include "base/run_to_end.h"
#include "client/cli/up/child_process.h"

namespace espalier {

Result<std::vector<std::string>> PythonCommand(const Entry& trainer, const std::string& python) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::absolute(trainer.file, error);
  if (trainer.kind != EntryKind::kPython || trainer.name.empty() || !fs::is_regular_file(file, error)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected FILE.py:NAME, a class or a function in a file that is there; got " + Print(trainer),
                     "--trainer");
  }
  const std::string program = python.find('/') == std::string::npos ? python : fs::absolute(python, error).string();
  const std::vector<std::string> words{program, "-m", "espalier.worker", file.string() + ":" + trainer.name};
  std::vector<std::string> check = words;
  check.push_back("--check");
  const Ended ended = RunToEnd(check);
  if (ended.status == 0) return words;
  return MakeError(ErrorCode::kFailedPrecondition,
                   Print(trainer) + " cannot be run by " + program + " (" + DescribeEnd(ended.status) +
                       "): " + ended.last_line + "; its packages are those of " + program +
                       ", and `espalier` is one of them (docs/python_trainers.md)",
                   "--trainer");
}

Result<std::vector<std::string>> ScriptCommand(const Entry& trainer, const std::string& python) {
  namespace fs = std::filesystem;
  ESPALIER_ASSIGN(const std::string worker, ProgramBesideThisOne("espalier-script"));
  std::error_code error;
  const fs::path file = fs::absolute(trainer.file, error);
  const std::string interpreter = python.find('/') == std::string::npos ? python : fs::absolute(python, error).string();
  const std::vector<std::string> words{worker, file.string(), "--python", interpreter};
  std::vector<std::string> check = words;
  check.push_back("--check");
  const Ended ended = RunToEnd(check);
  if (ended.status == 0) return words;
  return MakeError(ErrorCode::kFailedPrecondition, ended.said + " (docs/script_trainers.md)", "--trainer");
}

std::vector<std::string> ShellCommand(const std::string& program, const std::string& folder) {
  return {"/bin/sh", "-c", "cd \"$1\" && shift && exec " + program + " \"$@\"", "worker", folder};
}

Result<std::vector<WorkerRuntime>> WorkerRuntimes(const WorkerChoice& choice, const std::string& built_in) {
  std::vector<WorkerRuntime> runtimes{{"built-in", {built_in}}};
  for (std::size_t i = 0; i < choice.trainers.size(); ++i) {
    const Entry entry = ParseEntry(choice.trainers[i]);
    const auto command_for = entry.kind == EntryKind::kScript ? ScriptCommand : PythonCommand;
    ESPALIER_ASSIGN(std::vector<std::string> command, command_for(entry, choice.python));
    runtimes.push_back({"trainer-" + std::to_string(i + 1), std::move(command)});
  }
  for (std::size_t i = 0; i < choice.programs.size(); ++i) {
    runtimes.push_back(
        {"worker-" + std::to_string(i + 1), {"/bin/sh", "-c", "exec " + choice.programs[i] + " \"$@\"", "worker"}});
  }
  return runtimes;
}

}  // namespace espalier
