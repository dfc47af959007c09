// espalier quota [TEAM | --study STUDY] [--weight W]
#include <memory>
#include <optional>
#include <ostream>

#include "client/cli/bill_output.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"
#include "client/study_file/study_values.h"

namespace espalier {
namespace {

struct Options {
  std::string team;
  std::string study;
  std::optional<std::string> weight;
};

int Show(CommandContext& context, Client& client) {
  const Result<v1::ListServersResponse> servers = client.connection().ListServers({});
  if (!servers.has_value()) return Fail(context, servers.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, BillInJson(*servers));
  } else {
    PrintBill(context.out, *servers);
  }
  return kExitDone;
}

int WeighTeam(CommandContext& context, Client& client, const std::string& team, double weight) {
  v1::WeighTeamRequest request;
  request.set_request_id(NewRequestId());
  request.set_team(team);
  request.set_weight(weight);
  const auto response = client.connection().WeighTeam(request);
  return response.has_value() ? Show(context, client) : Fail(context, response.error());
}

int WeighStudy(CommandContext& context, Client& client, const std::string& name, double weight) {
  const Result<v1::StudySummary> study = FindStudy(client.connection(), name);
  if (!study.has_value()) return Fail(context, study.error());
  v1::WeighStudyRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(study->study_id());
  request.set_weight(weight);
  const auto response = client.connection().WeighStudy(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kText) {
    context.out << study->name() << " (study " << study->study_id() << ") weighs " << FormatNumber(weight)
                << " among its team's studies\n";
    return kExitDone;
  }
  const Result<v1::StudySummary> weighed = FindStudy(client.connection(), std::to_string(study->study_id()));
  if (!weighed.has_value()) return Fail(context, weighed.error());
  PrintJson(context.out, ToJson(*weighed));
  return kExitDone;
}

int Run(CommandContext& context, const Options& options) {
  const bool names_one = options.team.empty() != options.study.empty();
  if (options.weight ? !names_one : !options.team.empty() || !options.study.empty()) {
    context.err << "espalier: expected a TEAM, or --study STUDY, with --weight W; or none of these, to see the teams\n";
    return kExitUsage;
  }
  double weight = 0;
  if (options.weight) {
    const Result<double> parsed = ParseNumber(*options.weight, "--weight");
    if (!parsed.has_value()) {
      context.err << "espalier: " << parsed.error().field << ": " << parsed.error().message << "\n";
      return kExitUsage;
    }
    weight = *parsed;
  }
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  if (!options.weight) return Show(context, *client);
  return options.team.empty() ? WeighStudy(context, *client, options.study, weight)
                              : WeighTeam(context, *client, options.team, weight);
}

}  // namespace

Command QuotaCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "quota",
      .help = "Who used what, and how large a part is whose due: teams' by administrators, a study's by its user",
      .arguments = {{"TEAM", &options->team, "whose weight is to be set", /*optional=*/true}},
      .options = {{.name = "--study",
                   .target = &options->study,
                   .help = "instead: of one study among its team's, by id or name",
                   .placeholder = "STUDY"},
                  {.name = "--weight",
                   .target = &options->weight,
                   .help = "from 0.001 to 1000, 1 unless set: one of weight 2 has twice the slots of one of weight 1",
                   .placeholder = "W"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
