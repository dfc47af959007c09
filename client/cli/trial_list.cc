// espalier trial list STUDY
#include <CLI/CLI.hpp>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

constexpr std::size_t kDigestShown = 12;

int Run(CommandContext& context, const std::string& id_or_name) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::StudySummary> study = FindStudy(client->connection(), id_or_name);
  if (!study.has_value()) return Fail(context, study.error());
  const Result<std::vector<v1::Trial>> trials = ListTrialsOf(client->connection(), study->study_id());
  if (!trials.has_value()) return Fail(context, trials.error());
  if (context.output == OutputFormat::kJson) {
    Json list = Json::array();
    for (const v1::Trial& trial : *trials) list.push_back(ToJson(trial));
    PrintJson(context.out, list);
    return kExitDone;
  }
  std::vector<std::string> header = {"id", "state", "steps", "metric", "state_sha256"};
  const std::vector<std::string> tuned = TunedNames(*trials);
  header.insert(header.end(), tuned.begin(), tuned.end());
  Table table(std::move(header));
  for (const v1::Trial& trial : *trials) {
    std::vector<std::string> row = {std::to_string(trial.trial_id()), trial.state(), FormatCount(trial.steps()),
                                    trial.has_metric() ? FormatNumber(trial.metric()) : "-",
                                    trial.state_sha256().empty() ? "-" : trial.state_sha256().substr(0, kDigestShown)};
    for (const std::string& name : tuned) row.push_back(SequenceText(trial, name));
    table.AddRow(std::move(row));
  }
  table.Print(context.out);
  return kExitDone;
}

}  // namespace

void RegisterTrialList(CLI::App& trial, CommandContext& context) {
  CLI::App& command = *trial.add_subcommand("list", "A study's trials, in order of submission");
  OnStudyCommand(command, context, [&context](const std::string& id_or_name) { return Run(context, id_or_name); });
}

}  // namespace espalier
