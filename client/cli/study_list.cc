// espalier study list [--state STATE] [--metric NAME [--goal max|min]] [--limit N]
#include <algorithm>
#include <limits>
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"

namespace espalier {
namespace {

struct Listing {
  v1::ListStudiesRequest request;
  std::size_t count_max = std::numeric_limits<std::size_t>::max();  // the first so many
};

// Reads as many pages as that takes.
Result<std::vector<v1::StudyListing>> ListStudies(Connection& connection, const Listing& listing) {
  v1::ListStudiesRequest request = listing.request;
  std::vector<v1::StudyListing> studies;
  do {
    constexpr std::size_t kPage = 1000;
    request.set_page_size(static_cast<std::int32_t>(std::min(kPage, listing.count_max - studies.size())));
    ESPALIER_ASSIGN(v1::ListStudiesResponse page, connection.ListStudies(request));
    studies.insert(studies.end(), std::make_move_iterator(page.mutable_studies()->begin()),
                   std::make_move_iterator(page.mutable_studies()->end()));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && studies.size() < listing.count_max);
  return studies;
}

void PrintStudies(std::ostream& out, const std::vector<v1::StudyListing>& studies) {
  std::vector<std::string> header = {"id",     "name",    "user",   "trainer", "state",
                                     "trials", "claimed", "metric", "best",    "elapsed"};
  const bool some_reuse =
      std::ranges::any_of(studies, [](const v1::StudyListing& study) { return study.reuse_from_study_id() != 0; });
  if (some_reuse) header.push_back("reuses");
  Table table(std::move(header));
  for (const v1::StudyListing& study : studies) {
    const bool has_best = study.has_best();
    std::vector<std::string> row = {std::to_string(study.study_id()),
                                    study.name(),
                                    study.user(),
                                    study.trainer(),
                                    study.state(),
                                    TrialStates(study.trials_by_standing()),
                                    FormatCount(study.claimed_steps()),
                                    has_best ? study.best().metric() : "-",
                                    has_best ? FormatNumber(study.best().value()) : "-",
                                    FormatDuration(study.elapsed_seconds())};
    if (some_reuse) {
      row.push_back(study.reuse_from_study_id() == 0 ? "-" : "study " + std::to_string(study.reuse_from_study_id()));
    }
    table.AddRow(std::move(row));
  }
  table.Print(out);
}

int Run(CommandContext& context, const Listing& listing) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<std::vector<v1::StudyListing>> studies = ListStudies(client->connection(), listing);
  if (!studies.has_value()) return Fail(context, studies.error());
  if (context.output == OutputFormat::kText) {
    PrintStudies(context.out, *studies);
    return kExitDone;
  }
  Json list = Json::Array();
  for (const v1::StudyListing& study : *studies) list.Append(ToJson(study));
  PrintJson(context.out, list);
  return kExitDone;
}

}  // namespace

Command StudyListCommand(CommandContext& context) {
  const auto listing = std::make_shared<Listing>();
  v1::ListStudiesRequest& request = listing->request;
  request.set_goal(v1::GOAL_MAXIMIZE);
  const auto set_state = [&request](const std::string& state) { request.set_state(state); };
  const auto set_metric = [&request](const std::string& name) { request.set_metric(name); };
  const auto set_goal = [&request](const std::string& goal) {
    request.set_goal(goal == "min" ? v1::GOAL_MINIMIZE : v1::GOAL_MAXIMIZE);
  };
  Command command{.name = "list",
                  .help = "The studies of your team, newest first",
                  .options = {{.name = "--state",
                               .target = set_state,
                               .help = "only studies in this state",
                               .placeholder = "running|finished",
                               .one_of = {"running", "finished"}},
                              {.name = "--metric",
                               .target = set_metric,
                               .help = "only studies that seek this metric, the best first",
                               .placeholder = "NAME"},
                              {.name = "--goal",
                               .target = set_goal,
                               .help = "with --metric: whether they seek its maximum (the default) or its minimum",
                               .placeholder = "max|min",
                               .one_of = {"max", "min"},
                               .needs = "--metric"},
                              {.name = "--limit",
                               .target = &listing->count_max,
                               .help = "the first N alone",
                               .placeholder = "N",
                               .at_least = 1}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, listing] { return Run(context, *listing); };
  return command;
}

}  // namespace espalier
