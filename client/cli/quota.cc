// espalier quota [TEAM | --user USER | --study STUDY] [--weight W] [--open-trials N] ...
#include <memory>
#include <optional>
#include <ostream>

#include "client/cli/bill_output.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/quota_limits.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"
#include "client/study_file/study_values.h"

namespace espalier {
namespace {

struct Options {
  std::string team;
  std::string user;
  std::string study;
  std::optional<std::string> weight;
  LimitOptions limits;
};

int Show(CommandContext& context, Client& client) {
  const Result<v1::ListServersResponse> servers = client.connection().ListServers({});
  if (!servers.has_value()) return Fail(context, servers.error());
  const Result<v1::ListQuotasResponse> quotas = client.connection().ListQuotas({});
  if (!quotas.has_value()) return Fail(context, quotas.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, Json::Object({{"teams", BillInJson(*servers)}, {"quotas", QuotasInJson(*quotas)}}));
  } else {
    PrintBill(context.out, *servers);
    PrintLimits(context.out, *quotas);
  }
  return kExitDone;
}

Result<void> WeighTeam(Client& client, const std::string& team, double weight) {
  v1::WeighTeamRequest request;
  request.set_request_id(NewRequestId());
  request.set_team(team);
  request.set_weight(weight);
  ESPALIER_RETURN_IF_ERROR(client.connection().WeighTeam(request));
  return {};
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

Result<void> LimitParty(Client& client, const Options& options, v1::SetQuotaRequest request) {
  request.set_request_id(NewRequestId());
  options.user.empty() ? request.set_team(options.team) : request.set_user(options.user);
  ESPALIER_RETURN_IF_ERROR(client.connection().SetQuota(request));
  return {};
}

// What the options ask for, if they are to be understood; else a sentence.
std::string WrongUse(const Options& options) {
  const int named = !options.team.empty() + !options.user.empty() + !options.study.empty();
  const bool sets = options.weight || !options.limits.empty();
  if (named != (sets ? 1 : 0)) {
    return "expected a TEAM, --user USER or --study STUDY, with what is to be set; or none of these, to see what is";
  }
  if (options.weight && !options.user.empty()) return "--weight is of a TEAM, or of a --study STUDY";
  if (!options.limits.empty() && !options.study.empty()) return "limits are of a TEAM, or of a --user USER";
  return "";
}

int Set(CommandContext& context, const Options& options, std::optional<double> weight,
        const v1::SetQuotaRequest& limits) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  if (weight && !options.study.empty()) return WeighStudy(context, *client, options.study, *weight);
  if (weight) {
    const Result<void> weighed = WeighTeam(*client, options.team, *weight);
    if (!weighed.has_value()) return Fail(context, weighed.error());
  }
  if (!options.limits.empty()) {
    const Result<void> limited = LimitParty(*client, options, limits);
    if (!limited.has_value()) return Fail(context, limited.error());
  }
  return Show(context, *client);
}

int Run(CommandContext& context, const Options& options) {
  if (const std::string wrong = WrongUse(options); !wrong.empty()) {
    context.err << "espalier: " << wrong << "\n";
    return kExitUsage;
  }
  std::optional<double> weight;
  v1::SetQuotaRequest limits;
  Result<void> parsed = Fill(options.limits, limits);
  if (parsed.has_value() && options.weight) {
    const Result<double> number = ParseNumber(*options.weight, "--weight");
    number.has_value() ? (void)(weight = *number) : (void)(parsed = tl::unexpected(number.error()));
  }
  if (!parsed.has_value()) {
    context.err << "espalier: " << parsed.error().field << ": " << parsed.error().message << "\n";
    return kExitUsage;
  }
  return Set(context, options, weight, limits);
}

}  // namespace

Command QuotaCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  LimitOptions& limits = options->limits;
  Command command{
      .name = "quota",
      .help =
          "Who used what, how large a part is whose due, and what is the most that a team or user may use: set by "
          "administrators, a study's weight by its user",
      .arguments = {{"TEAM", &options->team, "whose weight or limits are to be set", /*optional=*/true}},
      .options = {
          {.name = "--user",
           .target = &options->user,
           .help = "instead: whose limits are to be set",
           .placeholder = "USER"},
          {.name = "--study",
           .target = &options->study,
           .help = "instead: whose weight is to be set, among its team's; by id or name",
           .placeholder = "STUDY"},
          {.name = "--weight",
           .target = &options->weight,
           .help = "from 0.001 to 1000, 1 unless set: one of weight 2 has twice the slots of one of weight 1",
           .placeholder = "W"},
          {.name = "--open-trials",
           .target = &limits.open_trials,
           .help = "how many trials may wait for something, or be asked for more: beyond, new ones are refused; 'none' "
                   "takes this limit away, as all that follow",
           .placeholder = "N"},
          {.name = "--plan-nodes",
           .target = &limits.plan_nodes,
           .help = "how many nodes of search plans may come of their trials; these stay for good",
           .placeholder = "N"},
          {.name = "--stored-bytes",
           .target = &limits.stored_bytes,
           .help = "how much of checkpoints may be kept of such nodes, as 200GB: what is not needed is evicted, and "
                   "beyond, nothing is begun",
           .placeholder = "SIZE"},
          {.name = "--device-seconds",
           .target = &limits.device_seconds,
           .help = "for how long runs may hold slots, in a day (UTC): beyond, nothing is begun, and runs end",
           .placeholder = "S"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
