// espalier stage retry NODE@STEP
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/server_access.h"
#include "client/cli/stage_name.h"
#include "client/json.h"
#include "client/request_id.h"

namespace espalier {
namespace {

void PrintRetried(std::ostream& out, const std::string& name, const v1::RetryStageResponse& retried) {
  out << "stage " << name << " is tried again";
  for (int i = 0; i < retried.trial_ids_size(); ++i) out << (i == 0 ? ", for trials " : ", ") << retried.trial_ids(i);
  if (retried.other_count() > 0) out << ", and for " << retried.other_count() << " of other teams";
  out << '\n';
}

int Run(CommandContext& context, const std::string& name) {
  const Result<v1::StagePoint> point = ParseStageName(name);
  if (!point.has_value()) return Fail(context, point.error()), kExitUsage;
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  v1::RetryStageRequest request;
  request.set_request_id(NewRequestId());
  request.set_plan_node_id(point->plan_node_id());
  request.set_step(point->step());
  const Result<v1::RetryStageResponse> response = client->connection().RetryStage(request);
  if (!response.has_value()) return Fail(context, response.error());
  if (context.output == OutputFormat::kText) {
    PrintRetried(context.out, StageName(*point), *response);
    return kExitDone;
  }
  PrintJson(context.out, Json::Object({{"stage", StageName(*point)},
                                       {"trials", Json::ArrayOf(response->trial_ids())},
                                       {"other_trials", response->other_count()}}));
  return kExitDone;
}

}  // namespace

Command StageRetryCommand(CommandContext& context) {
  const auto stage = std::make_shared<std::string>();
  Command command{.name = "retry",
                  .help = "Try a stage again that failed, pauses or is held; trials that it failed ask anew",
                  .arguments = {{"STAGE", stage.get(), "NODE@STEP: where it failed, as `stage explain` says"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, stage] { return Run(context, *stage); };
  return command;
}

}  // namespace espalier
