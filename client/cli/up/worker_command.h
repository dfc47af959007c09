// What `up` has its node manager start as workers: the built-in trainers, a trainer in Python, or any other program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace espalier {

// At most one of `trainer` and `program`; none: the built-in trainers.
struct WorkerChoice {
  std::optional<std::string> trainer;  // "FILE.py:NAME", a trainer in Python
  std::string python = "python3";      // that runs it: a path, or a name in PATH
  std::optional<std::string> program;  // as a shell reads it; it speaks the trainer protocol
};

// The command; the node manager adds the socket to it. `built_in`: the program with the built-in trainers.
// Cost: a trainer in Python is imported once, which takes seconds. Errors: kInvalidArgument with the option as field,
// for two choices, or a FILE that is not there; kFailedPrecondition when Python or its package `espalier` is missing,
// or the file cannot be imported, with Python's last words.
Result<std::vector<std::string>> WorkerCommand(const WorkerChoice& choice, const std::string& built_in);

}  // namespace espalier
