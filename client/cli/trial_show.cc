// espalier trial show TRIAL
#include <memory>
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/server_access.h"
#include "client/cli/study_view.h"
#include "client/cli/training_metrics.h"
#include "client/training_curves.h"

namespace espalier {
namespace {

void PrintTrial(std::ostream& out, const v1::GetTrialResponse& response) {
  const v1::Trial& trial = response.trial();
  out << "trial " << trial.trial_id() << " is " << trial.state() << " at step " << FormatCount(trial.steps()) << " of "
      << FormatCount(trial.horizon_steps()) << '\n';
  for (const auto& [name, text] :
       std::map<std::string, std::string>(trial.sequences().begin(), trial.sequences().end())) {
    out << "  " << name << " = " << text << '\n';
  }
  if (trial.has_origin()) out << "  begins with " << OriginText(trial) << '\n';
  if (trial.has_label()) out << "  " << LabelText(trial) << '\n';
  if (!trial.state_sha256().empty()) out << "  state_sha256 = " << trial.state_sha256() << '\n';
  if (!trial.message().empty()) out << "  " << trial.message() << '\n';
  if (response.metrics().empty()) return;
  out << '\n';
  Table table({"step", "metric", "value"});
  for (const v1::TrialEvaluation& each : response.metrics()) {
    for (const auto& [name, value] : std::map<std::string, double>(each.metrics().begin(), each.metrics().end())) {
      table.AddRow({FormatCount(each.step()), name, FormatNumber(value)});
    }
  }
  table.Print(out);
}

int Run(CommandContext& context, std::int64_t trial) {
  Result<Client> client = ConnectToServer(context);
  if (!client.has_value()) return Fail(context, client.error());
  v1::GetTrialRequest request;
  request.set_trial_id(trial);
  const Result<v1::GetTrialResponse> response = client->connection().GetTrial(request);
  if (!response.has_value()) return Fail(context, response.error());
  const Result<TrainingCurves> training = ReadTrainingCurves(client->connection(), TrialId{trial});
  if (!training.has_value()) return Fail(context, training.error());
  if (context.output == OutputFormat::kJson) {
    Json document = ToJson(*response);
    document.Add("training_metrics", ToJson(*training));
    PrintJson(context.out, document);
  } else {
    PrintTrial(context.out, *response);
    PrintTrainingMetrics(context.out, *training);
  }
  return kExitDone;
}

}  // namespace

Command TrialShowCommand(CommandContext& context) {
  const auto id = std::make_shared<std::int64_t>(0);
  Command command{.name = "show",
                  .help = "A trial, with every metric on its way, and what its steps returned as they were trained",
                  .arguments = {{"TRIAL", id.get(), "its id"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, id] { return Run(context, *id); };
  return command;
}

}  // namespace espalier
