// espalier user remove NAME
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"

namespace espalier {
namespace {

int Run(CommandContext& context, const std::string& name) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  v1::RemoveUserRequest request;
  request.set_request_id(NewRequestId());
  request.set_name(name);
  const Result<v1::RemoveUserResponse> response = client->connection().RemoveUser(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, Json::Object({{"name", name}, {"state", "removed"}}));
  } else {
    context.out << "removed " << name << '\n';
  }
  return kExitDone;
}

}  // namespace

Command UserRemoveCommand(CommandContext& context) {
  const auto name = std::make_shared<std::string>();
  Command command{.name = "remove",
                  .help = "Make a user's token worthless, at once. The user's studies stay with the team.",
                  .arguments = {{"NAME", name.get(), "as `espalier user list` shows it"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, name] { return Run(context, *name); };
  return command;
}

}  // namespace espalier
