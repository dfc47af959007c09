// Other programs, for what they print.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace espalier::bench {

// Runs a program, found as a shell would, with its arguments to its end: its standard output. Nothing if it fails.
std::optional<std::string> OutputOf(const std::vector<std::string>& command);

// What a Python program prints. Interpreter and program are named by these variables of the environment, which
// bench/run sets. Gives up where they are not, or the program fails.
std::string OutputOfScript(const char* python_variable, const char* script_variable,
                           const std::vector<std::string>& arguments);

}  // namespace espalier::bench
