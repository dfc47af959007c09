// espalier trial list STUDY [--sort metric] [--limit N] [--state STATE ...]
#include <CLI/CLI.hpp>
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

constexpr std::size_t kDigestShown = 12;

void PrintTrials(std::ostream& out, const std::vector<v1::Trial>& trials) {
  std::vector<std::string> header = {"id", "state", "steps", "metric", "state_sha256"};
  const std::vector<std::string> tuned = TunedNames(trials);
  header.insert(header.end(), tuned.begin(), tuned.end());
  Table table(std::move(header));
  for (const v1::Trial& trial : trials) {
    std::vector<std::string> row = {std::to_string(trial.trial_id()), trial.state(), FormatCount(trial.steps()),
                                    trial.has_metric() ? FormatNumber(trial.metric()) : "-",
                                    trial.state_sha256().empty() ? "-" : trial.state_sha256().substr(0, kDigestShown)};
    for (const std::string& name : tuned) row.push_back(SequenceText(trial, name));
    table.AddRow(std::move(row));
  }
  table.Print(out);
}

int Run(CommandContext& context, const TrialListing& listing) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<std::vector<v1::Trial>> trials = ListTrialsOf(client->connection(), listing);
  if (!trials.has_value()) return Fail(context, trials.error());
  if (context.output == OutputFormat::kText) {
    PrintTrials(context.out, *trials);
    return kExitDone;
  }
  Json list = Json::array();
  for (const v1::Trial& trial : *trials) list.push_back(ToJson(trial));
  PrintJson(context.out, list);
  return kExitDone;
}

}  // namespace

void RegisterTrialList(CLI::App& trial, CommandContext& context) {
  CLI::App& command = *trial.add_subcommand("list", "A study's trials");
  const auto listing = std::make_shared<TrialListing>();
  command
      .add_option_function<std::string>(
          "--sort",
          [listing](const std::string& order) {
            listing->order = order == "metric" ? v1::TRIAL_ORDER_METRIC : v1::TRIAL_ORDER_SUBMISSION;
          },
          "as submitted (the default), or the best by the study's metric first")
      ->check(CLI::IsMember({"submission", "metric"}))
      ->option_text("submission|metric");
  command.add_option("--limit", listing->count_max, "the first N alone")->check(CLI::PositiveNumber)->option_text("N");
  command.add_option("--state", listing->states, "only trials in one of these states")
      ->check(CLI::IsMember({"waiting", "running", "idle", "done", "failed", "cancelled"}))
      ->option_text("STATE ...");
  OnStudyCommand(command, context, [&context, listing](const std::string& id_or_name) {
    listing->study = id_or_name;
    return Run(context, *listing);
  });
}

}  // namespace espalier
