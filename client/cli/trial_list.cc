// espalier trial list STUDY [--sort metric] [--limit N] [--state STATE ...]
#include <algorithm>
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
  const bool some_reuse = std::ranges::any_of(trials, [](const v1::Trial& trial) { return trial.has_origin(); });
  if (some_reuse) header.push_back("begins with");
  const bool some_labels = std::ranges::any_of(trials, [](const v1::Trial& trial) { return trial.has_label(); });
  if (some_labels) header.push_back("policy");
  Table table(std::move(header));
  for (const v1::Trial& trial : trials) {
    std::vector<std::string> row = {std::to_string(trial.trial_id()), trial.state(), FormatCount(trial.steps()),
                                    trial.has_metric() ? FormatNumber(trial.metric()) : "-",
                                    trial.state_sha256().empty() ? "-" : trial.state_sha256().substr(0, kDigestShown)};
    for (const std::string& name : tuned) row.push_back(SequenceText(trial, name));
    if (some_reuse) row.push_back(OriginText(trial));
    if (some_labels) row.push_back(LabelText(trial));
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
  Json list = Json::Array();
  for (const v1::Trial& trial : *trials) list.Append(ToJson(trial));
  PrintJson(context.out, list);
  return kExitDone;
}

}  // namespace

Command TrialListCommand(CommandContext& context) {
  const auto listing = std::make_shared<TrialListing>();
  const auto sort = [listing](const std::string& order) {
    listing->order = order == "metric" ? v1::TRIAL_ORDER_METRIC : v1::TRIAL_ORDER_SUBMISSION;
  };
  Command command{.name = "list",
                  .help = "A study's trials",
                  .options = {{.name = "--sort",
                               .target = sort,
                               .help = "as submitted (the default), or the best by the study's metric first",
                               .placeholder = "submission|metric",
                               .one_of = {"submission", "metric"}},
                              {.name = "--limit",
                               .target = &listing->count_max,
                               .help = "the first N alone",
                               .placeholder = "N",
                               .at_least = 1},
                              {.name = "--state",
                               .target = &listing->states,
                               .help = "only trials in one of these states",
                               .placeholder = "STATE ...",
                               .one_of = {"waiting", "running", "idle", "done", "failed", "cancelled"}}}};
  MakeAboutStudy(command, context, [&context, listing](const std::string& id_or_name) {
    listing->study = id_or_name;
    return Run(context, *listing);
  });
  return command;
}

}  // namespace espalier
