// espalier study show ID|NAME
#include <CLI/CLI.hpp>

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

void RegisterStudyShow(CLI::App& study, CommandContext& context) {
  CLI::App& command = *study.add_subcommand("show", "A study's state, steps, merge rate, cost and best trial");
  OnStudyCommand(command, context, [&context](const std::string& id_or_name) { return Run(context, id_or_name); });
}

}  // namespace espalier
