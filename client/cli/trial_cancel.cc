// espalier trial cancel TRIAL --study ID|NAME
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/request_id.h"

namespace espalier {
namespace {

struct Options {
  std::int64_t trial = 0;
  std::string study;
};

// Gives back the trial as it is then.
Result<v1::GetTrialResponse> Cancel(Connection& connection, const Options& options) {
  ESPALIER_ASSIGN(const v1::StudySummary study, FindStudy(connection, options.study));
  v1::SubmitRequest request;
  request.set_request_id(NewRequestId());
  request.set_study_id(study.study_id());
  request.add_cancel_trial_ids(options.trial);
  ESPALIER_RETURN_IF_ERROR(connection.Submit(request).map_error([](Error error) {
    error.field = "TRIAL";
    return error;
  }));
  v1::GetTrialRequest get;
  get.set_trial_id(options.trial);
  return connection.GetTrial(get);
}

int Run(CommandContext& context, const Options& options) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  const Result<v1::GetTrialResponse> trial = Cancel(client->connection(), options);
  if (!trial.has_value()) return Fail(context, trial.error());
  if (context.output == OutputFormat::kJson) {
    PrintJson(context.out, ToJson(trial->trial()));
  } else {
    context.out << "trial " << options.trial << " is " << trial->trial().state() << " at step "
                << FormatCount(trial->trial().steps()) << '\n';
  }
  return kExitDone;
}

}  // namespace

Command TrialCancelCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "cancel",
      .help = "Withdraw what a trial still waits for, and close it; what it shares with others is trained on",
      .arguments = {{"TRIAL", &options->trial, "its id"}},
      .options = {{.name = "--study",
                   .target = &options->study,
                   .help = "the study that it is of, by id or name",
                   .placeholder = "STUDY",
                   .required = true}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
