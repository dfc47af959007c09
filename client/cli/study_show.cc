// espalier study show ID|NAME

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

int Run(CommandContext& context, const std::string& id_or_name) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::StudySummary> study = FindStudy(client->connection(), id_or_name);
  if (!study.has_value()) return Fail(context, study.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(*study));
  } else {
    PrintStudy(context.out, *study);
  }
  return kExitDone;
}

}  // namespace

Command StudyShowCommand(CommandContext& context) {
  Command command{.name = "show", .help = "A study's state, steps, merge rate, cost and best trial"};
  MakeAboutStudy(command, context, [&context](const std::string& id_or_name) { return Run(context, id_or_name); });
  return command;
}

}  // namespace espalier
