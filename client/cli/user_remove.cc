// espalier user remove NAME
#include <CLI/CLI.hpp>
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
    PrintJson(context.out, {{"name", name}, {"state", "removed"}});
  } else {
    context.out << "removed " << name << '\n';
  }
  return kExitDone;
}

}  // namespace

void RegisterUserRemove(CLI::App& user, CommandContext& context) {
  CLI::App& command =
      *user.add_subcommand("remove", "Make a user's token worthless, at once. The user's studies stay with the team.");
  const auto name = std::make_shared<std::string>();
  command.add_option("NAME", *name, "as `espalier user list` shows it")->required()->option_text(" ");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [&context, name] { return Run(context, *name); });
}

}  // namespace espalier
