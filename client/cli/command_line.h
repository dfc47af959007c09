// The command line as a whole: nouns, verbs, help.
#pragma once

#include <string>
#include <vector>

#include "client/cli/command_context.h"

namespace espalier {

// Parses the arguments (without the program's name) and runs the chosen command. Returns the process's exit code.
int RunCommandLine(const std::vector<std::string>& arguments, CommandContext& context);

}  // namespace espalier
