// `espalier`: the command line. Reads the environment, and nothing else does.
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/cli/command_line.h"
#include "client/cli/terminal_text.h"

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
  espalier::TerminalText visible_out(*std::cout.rdbuf());
  espalier::TerminalText visible_err(*std::cerr.rdbuf());
  const bool err_is_terminal = isatty(STDERR_FILENO) == 1;
  std::ostream out(isatty(STDOUT_FILENO) == 1 ? &visible_out : std::cout.rdbuf());
  std::ostream err(err_is_terminal ? &visible_err : std::cerr.rdbuf());
  err << std::unitbuf;
  espalier::CommandContext context{.data_directory = DefaultDataDirectory(),
                                   .server = {},
                                   .usual_server = Environment("ESPALIER_SERVER"),
                                   .token = Environment("ESPALIER_TOKEN"),
                                   .encryption = {.ca_file = Environment("ESPALIER_CA_FILE"),
                                                  .certificate_file = Environment("ESPALIER_CERTIFICATE_FILE"),
                                                  .key_file = Environment("ESPALIER_KEY_FILE"),
                                                  .server_name = Environment("ESPALIER_SERVER_NAME"),
                                                  .plaintext = Environment("ESPALIER_PLAINTEXT") == "1"},
                                   .output = espalier::OutputFormat::kText,
                                   .out = out,
                                   .err = err,
                                   .err_is_terminal = err_is_terminal,
                                   .program = argc > 0 ? argv[0] : "espalier"};
  unsetenv("ESPALIER_TOKEN");  // a secret is no matter of programs that are started from here, trainers among them
  return espalier::RunCommandLine({argv + 1, argv + argc}, context);
}
