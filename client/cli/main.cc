// `espalier`: the command line. Reads the environment, and nothing else does.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/cli/command_line.h"

namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DefaultDataDirectory() {
  if (std::string directory = Environment("ESPALIER_DATA"); !directory.empty()) return directory;
  const std::string home = Environment("HOME");
  return (home.empty() ? "." : home) + "/.espalier";
}

}  // namespace

int main(int argc, char** argv) {
  espalier::CommandContext context{.data_directory = DefaultDataDirectory(),
                                   .server = {},
                                   .token = Environment("ESPALIER_TOKEN"),
                                   .output = espalier::OutputFormat::kText,
                                   .out = std::cout,
                                   .err = std::cerr,
                                   .err_is_terminal = isatty(STDERR_FILENO) == 1,
                                   .program = argc > 0 ? argv[0] : "espalier"};
  unsetenv("ESPALIER_TOKEN");  // a secret is no matter of programs that are started from here, trainers among them
  return espalier::RunCommandLine({argv + 1, argv + argc}, context);
}
