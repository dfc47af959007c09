// espalier trial cancel TRIAL
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"

namespace espalier {
namespace {

// Gives back the trial as it is then.
Result<v1::GetTrialResponse> Cancel(Connection& connection, std::int64_t trial) {
  v1::GetTrialRequest get;
  get.set_trial_id(trial);
  ESPALIER_ASSIGN(const v1::GetTrialResponse before, connection.GetTrial(get));
  v1::SubmitRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(before.study_id());
  request.add_cancel_trial_ids(trial);
  ESPALIER_RETURN_IF_ERROR(connection.Submit(request).map_error([](Error error) {
    error.field = "TRIAL";
    return error;
  }));
  return connection.GetTrial(get);
}

int Run(CommandContext& context, std::int64_t number) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::GetTrialResponse> trial = Cancel(client->connection(), number);
  if (!trial.has_value()) return Fail(context, trial.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(trial->trial()));
  } else {
    context.out << "trial " << number << " is " << trial->trial().state() << " at step "
                << FormatCount(trial->trial().steps()) << '\n';
  }
  return kExitDone;
}

}  // namespace

Command TrialCancelCommand(CommandContext& context) {
  const auto trial = std::make_shared<std::int64_t>(0);
  Command command{
      .name = "cancel",
      .help = "Withdraw what a trial still waits for, and close it; what it shares with others is trained on",
      .arguments = {{"TRIAL", trial.get(), "its id"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, trial] { return Run(context, *trial); };
  return command;
}

}  // namespace espalier
