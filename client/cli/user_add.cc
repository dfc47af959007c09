// espalier user add NAME --team TEAM
#include <memory>
#include <ostream>
#include <sstream>

#include "base/digest.h"
#include "base/token.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/convert.h"
#include "client/request_id.h"

namespace espalier {
namespace {

struct Options {
  std::string name;
  std::string team;
  std::string role = "member";
  std::string servers;
};

// What stands between commas.
std::vector<std::string> Listed(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream rest(text);
  for (std::string name; std::getline(rest, name, ',');) names.push_back(name);
  return names;
}

int Run(CommandContext& context, const Options& options) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const std::string token = NewToken();
  v1::AddUserRequest request;
  request.set_request_id(NewRequestId());
  request.set_name(options.name);
  request.set_team(options.team);
  request.set_role(RoleOf(options.role));
  request.set_token_sha256(Sha256Hex(token));
  for (const std::string& server : Listed(options.servers)) request.add_servers(server);
  const Result<v1::AddUserResponse> response = client->connection().AddUser(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, Json::Object({{"name", options.name},
                                         {"team", options.team},
                                         {"role", options.role},
                                         {"servers", Json::ArrayOf(request.servers())},
                                         {"token", token}}));
    return kExitDone;
  }
  context.err << "the token of " << options.name << ", shown this once and stored nowhere";
  if (request.role() == v1::ROLE_NODE) {
    context.err << "; a node manager reads it from the file that its configuration names as token_file\n";
  } else {
    context.err << "; it is given as ESPALIER_TOKEN, or in a file by --token-file\n";
  }
  context.out << token << '\n';
  return kExitDone;
}

}  // namespace

Command UserAddCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "add",
      .help = "Add a user and print the token that says who it is; or give a removed user a new token",
      .arguments = {{"NAME", &options->name, "letters, digits, and ._@-"}},
      .options = {{.name = "--team",
                   .target = &options->team,
                   .help = "with whom the user shares studies; node managers and tuner hosts have none",
                   .placeholder = "TEAM"},
                  {.name = "--role",
                   .target = &options->role,
                   .help = "member (the default), administrator (may add users), node (a node manager), or tuner (a "
                           "tuner host)",
                   .placeholder = "ROLE",
                   .one_of = {"member", "administrator", "node", "tuner"}},
                  {.name = "--servers",
                   .target = &options->servers,
                   .help = "which servers a node manager may be: their names, gpu-* for all that begin so",
                   .placeholder = "NAME,..."}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
