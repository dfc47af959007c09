// espalier study list [--state STATE] [--metric NAME [--goal max|min]] [--limit N]
#include <CLI/CLI.hpp>
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
  Table table({"id", "name", "user", "trainer", "state", "trials", "claimed", "metric", "best", "elapsed"});
  for (const v1::StudyListing& study : studies) {
    const bool has_best = study.has_best();
    table.AddRow({std::to_string(study.study_id()), study.name(), study.user(), study.trainer(), study.state(),
                  TrialStates(study.trials_by_standing()), FormatCount(study.claimed_steps()),
                  has_best ? study.best().metric() : "-", has_best ? FormatNumber(study.best().value()) : "-",
                  FormatDuration(study.elapsed_seconds())});
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
  Json list = Json::array();
  for (const v1::StudyListing& study : *studies) list.push_back(ToJson(study));
  PrintJson(context.out, list);
  return kExitDone;
}

}  // namespace

void RegisterStudyList(CLI::App& study, CommandContext& context) {
  CLI::App& command = *study.add_subcommand("list", "The studies of your team, newest first");
  const auto listing = std::make_shared<Listing>();
  v1::ListStudiesRequest& request = listing->request;
  request.set_goal(v1::GOAL_MAXIMIZE);
  command
      .add_option_function<std::string>(
          "--state", [&request](const std::string& state) { request.set_state(state); }, "only studies in this state")
      ->check(CLI::IsMember({"running", "finished"}))
      ->option_text("running|finished");
  CLI::Option* metric = command
                            .add_option_function<std::string>(
                                "--metric", [&request](const std::string& name) { request.set_metric(name); },
                                "only studies that seek this metric, the best first")
                            ->option_text("NAME");
  command
      .add_option_function<std::string>(
          "--goal",
          [&request](const std::string& goal) {
            request.set_goal(goal == "min" ? v1::GOAL_MINIMIZE : v1::GOAL_MAXIMIZE);
          },
          "with --metric: whether they seek its maximum (the default) or its minimum")
      ->check(CLI::IsMember({"max", "min"}))
      ->needs(metric)
      ->option_text("max|min");
  command.add_option("--limit", listing->count_max, "the first N alone")->check(CLI::PositiveNumber)->option_text("N");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [&context, listing] { return Run(context, *listing); });
}

}  // namespace espalier
