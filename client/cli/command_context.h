// What every command is given, and what commands share: the options for the server and the output, and how they fail.
// A command is one file with one function, `Command StudyRunCommand(CommandContext& context)`. Only main reads the
// environment.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/encryption.h"
#include "base/result.h"
#include "client/cli/command.h"
#include "client/cli/output.h"

namespace espalier {

struct CommandContext {
  // From the environment, then from the options of the command line.
  std::string data_directory;  // --data, else $ESPALIER_DATA, else ~/.espalier
  std::string server;          // --server; empty: the usual one
  std::string usual_server{};  // $ESPALIER_SERVER, unless there is --data; empty: what `espalier up` wrote there
  std::string token{};         // $ESPALIER_TOKEN; empty: what lies beside the server's socket
  std::string token_file{};    // --token-file; goes before `token`
  Encryption encryption{};     // --ca-file and so on, else $ESPALIER_CA_FILE and so on
  OutputFormat output = OutputFormat::kText;

  std::ostream& out;             // the document alone
  std::ostream& err;             // progress and messages
  bool err_is_terminal = false;  // lines may be rewritten
  std::string program;           // the path of the running program: servers and workers stand beside it
};

// The options that commands share.
// --output text|json, and what else the command can speak.
void AddOutputOption(Command& command, CommandContext& context, const std::vector<OutputFormat>& more = {});
void AddDataOption(Command& command, CommandContext& context);  // --data DIR
void AddServerOptions(Command& command,
                      CommandContext& context);  // --server ADDRESS, --token-file FILE, --ca-file FILE ..., --data DIR

// Makes the command one about a study: adds its argument, which `run` is given (an id or a name), and the options of
// the server and of the output (`more`: as for AddOutputOption).
void MakeAboutStudy(Command& command, CommandContext& context, std::function<int(const std::string&)> run,
                    const std::vector<OutputFormat>& more = {});

// Prints "espalier: message" on standard error and says the exit code: kUnavailable is 3, the rest 1.
int Fail(CommandContext& context, const Error& error);

// The file in the data directory into which `espalier up` writes the master's address, one line: "unix:/..." or
// "host:port".
std::string AddressFile(const std::string& data_directory);

}  // namespace espalier
