// The frame of a command: what each one is given, and how it joins the command line.
// A command is one file with one function, `void RegisterStudyRun(CLI::App& noun, CommandContext& context)`: it adds a
// subcommand with its options and says with `OnCommand` what to do when the user chose it. The command runs after the
// whole line has been parsed, and returns an ExitCode. Only main reads the environment.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "base/result.h"
#include "client/cli/output.h"

namespace CLI {
class App;
}  // namespace CLI

namespace espalier {

enum ExitCode : int {
  kExitDone = 0,
  kExitRefused = 1,      // refused or failed
  kExitUsage = 2,        // wrong usage, or a wrong file
  kExitUnreachable = 3,  // no server answers
};

struct CommandContext {
  // From the environment, then from the options of the command line.
  std::string data_directory;  // --data, else $ESPALIER_DATA, else ~/.espalier
  std::string server;          // --server; empty: what `espalier up` wrote into the data directory
  std::string token{};         // $ESPALIER_TOKEN; empty: what lies beside the server's socket
  std::string token_file{};    // --token-file; goes before `token`
  OutputFormat output = OutputFormat::kText;

  std::ostream& out;             // the document alone
  std::ostream& err;             // progress and messages
  bool err_is_terminal = false;  // lines may be rewritten
  std::string program;           // the path of the running program: servers and workers stand beside it

  std::function<int()> chosen;  // what the user asked for; set by parsing
};

// Runs `action` if the user chose `command`. The action's captures must outlive parsing: hold options by shared_ptr.
void OnCommand(CLI::App& command, CommandContext& context, std::function<int()> action);

// As OnCommand, for a command about one study: adds its argument, which `action` is given (an id or a name), and the
// options of the server and of the output.
void OnStudyCommand(CLI::App& command, CommandContext& context, std::function<int(const std::string&)> action);

// The options that commands share.
void AddOutputOption(CLI::App& command, CommandContext& context);   // --output text|json
void AddDataOption(CLI::App& command, CommandContext& context);     // --data DIR
void AddServerOptions(CLI::App& command, CommandContext& context);  // --server ADDRESS, --data DIR, --token-file FILE

// Prints "espalier: message" on standard error and says the exit code: kUnavailable is 3 (with what to start), the
// rest 1.
int Fail(CommandContext& context, const Error& error);

// The file in the data directory into which `espalier up` writes the master's address, one line: "unix:/..." or
// "host:port".
std::string AddressFile(const std::string& data_directory);

}  // namespace espalier
