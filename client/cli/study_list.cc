// espalier study list
#include <CLI/CLI.hpp>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

int Run(CommandContext& context) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::ListStudiesResponse> response = client->connection().ListStudies({});
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kJson) {
    Json studies = Json::array();
    for (const v1::StudySummary& study : response->studies()) studies.push_back(ToJson(study));
    PrintJson(context.out, studies);
    return kExitDone;
  }
  Table table({"id", "name", "user", "state", "trials", "trained", "claimed", "merge rate", "best", "elapsed"});
  for (const v1::StudySummary& study : response->studies()) {
    table.AddRow({std::to_string(study.study_id()), study.name(), study.user(), study.state(),
                  TrialStates({study.trials_by_state().begin(), study.trials_by_state().end()}),
                  FormatCount(study.steps().trained()), FormatCount(study.steps().claimed()),
                  FormatNumber(study.merge_rate()), study.has_best() ? FormatNumber(study.best().value()) : "-",
                  FormatDuration(study.elapsed_seconds())});
  }
  table.Print(context.out);
  return kExitDone;
}

}  // namespace

void RegisterStudyList(CLI::App& study, CommandContext& context) {
  CLI::App& command = *study.add_subcommand("list", "The studies of your team, newest first");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [&context] { return Run(context); });
}

}  // namespace espalier
