// The command line as a test runs it: in this process, with no data directory.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/command_line.h"

namespace espalier::testing {

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

inline Outcome RunCommand(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  CommandContext context{.data_directory = "/nonexistent",
                         .server = {},
                         .output = OutputFormat::kText,
                         .out = out,
                         .err = err,
                         .err_is_terminal = false,
                         .program = "espalier"};
  const int exit_code = RunCommandLine(arguments, context);
  return {exit_code, out.str(), err.str()};
}

}  // namespace espalier::testing
