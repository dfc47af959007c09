// espalier user list

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/convert.h"

namespace espalier {
namespace {

int Run(CommandContext& context) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::ListUsersResponse> response = client->connection().ListUsers({});
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kJson) {
    Json users = Json::Array();
    for (const v1::User& user : response->users()) {
      users.Append(Json::Object({{"name", user.name()},
                                 {"team", user.team()},
                                 {"role", Name(user.role())},
                                 {"servers", Json::ArrayOf(user.servers())},
                                 {"state", user.active() ? "active" : "removed"}}));
    }
    PrintJson(context.out, users);
    return kExitDone;
  }
  Table table({"name", "team", "role", "servers", "state"});
  for (const v1::User& user : response->users()) {
    std::string servers;
    for (const std::string& server : user.servers()) servers += (servers.empty() ? "" : ",") + server;
    table.AddRow({user.name(), user.team().empty() ? "-" : user.team(), std::string(Name(user.role())),
                  servers.empty() ? "-" : servers, user.active() ? "active" : "removed"});
  }
  table.Print(context.out);
  return kExitDone;
}

}  // namespace

Command UserListCommand(CommandContext& context) {
  Command command{.name = "list", .help = "All users, those removed too"};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context] { return Run(context); };
  return command;
}

}  // namespace espalier
