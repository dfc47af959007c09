// What `up` has its node manager start as workers: the built-in trainers, and besides them trainers in Python and other
// programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/cli/up/config_files.h"
#include "protocol/trainer_reference.h"

namespace espalier {

// The command of a worker, to which who starts it adds the socket. Of a trainer in Python: "FILE.py:NAME", run by
// `python`, a path or a name in PATH. Cost: the file is imported once, which takes seconds. Errors: kInvalidArgument
// with the option --trainer as field, for a FILE that is not there, or another kind of trainer; kFailedPrecondition
// when Python or its package `espalier` is missing, or the file cannot be imported, with Python's last words.
Result<std::vector<std::string>> PythonCommand(const Entry& trainer, const std::string& python);
// The same of a program that can only be started: "script:FILE", whose worker is espalier-script, beside this program.
// `python` runs a FILE.py. Cost: the program describes itself once. Errors: as PythonCommand.
Result<std::vector<std::string>> ScriptCommand(const Entry& trainer, const std::string& python);
// Of a program that speaks the trainer protocol, as a shell reads it, in that folder.
std::vector<std::string> ShellCommand(const std::string& program, const std::string& folder = ".");

struct WorkerChoice {
  std::vector<std::string> trainers;  // "FILE.py:NAME", trainers in Python; "script:FILE"
  std::string python = "python3";     // that runs them: a path, or a name in PATH
  std::vector<std::string> programs;  // as a shell reads them; they speak the trainer protocol
};

// The built-in trainers, whose program is `built_in`, and then those chosen. Errors and cost: of PythonCommand, for
// each.
Result<std::vector<WorkerRuntime>> WorkerRuntimes(const WorkerChoice& choice, const std::string& built_in);

}  // namespace espalier
