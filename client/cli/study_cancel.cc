// espalier study cancel ID|NAME
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"

namespace espalier {
namespace {

int Run(CommandContext& context, const std::string& id_or_name) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::StudySummary> study = FindStudy(client->connection(), id_or_name);
  if (!study.has_value()) return Fail(context, study.error());
  v1::CancelStudyRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(study->study_id());
  const Result<v1::CancelStudyResponse> response = client->connection().CancelStudy(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kText) {
    context.out << study->name() << " (study " << study->study_id() << ") is cancelled\n";
    return kExitDone;
  }
  const Result<v1::StudySummary> cancelled = FindStudy(client->connection(), std::to_string(study->study_id()));
  if (!cancelled.has_value()) return Fail(context, cancelled.error());
  PrintJson(context.out, ToJson(*cancelled));
  return kExitDone;
}

}  // namespace

Command StudyCancelCommand(CommandContext& context) {
  Command command{.name = "cancel", .help = "Cancel every open trial and waiting claim, and finish the study"};
  MakeAboutStudy(command, context, [&context](const std::string& id_or_name) { return Run(context, id_or_name); });
  return command;
}

}  // namespace espalier
