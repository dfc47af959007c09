// espalier trial extend TRIAL --steps N
#include <CLI/CLI.hpp>

#include "client/cli/commands.h"
#include "client/cli/trial_continue.h"

namespace espalier {

void RegisterTrialExtend(CLI::App& trial, CommandContext& context) {
  CLI::App& command = *trial.add_subcommand(
      "extend", "Train a trial on, past its horizon: a study of one trial that shares all that is trained");
  const auto id = std::make_shared<std::int64_t>(0);
  const auto steps = std::make_shared<std::int64_t>(0);
  const auto name = std::make_shared<std::string>();
  command.add_option("TRIAL", *id, "the trial's id")->required()->option_text(" ");
  command.add_option("--steps", *steps, "how far it shall go")->required()->check(CLI::PositiveNumber);
  command.add_option("--name", *name, "of the new study; left out: trial-ID-extended");
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  OnCommand(command, context, [&context, id, steps, name] {
    v1::ContinueTrialRequest request;
    request.set_trial_id(*id);
    request.set_steps(*steps);
    request.set_name(*name);
    return GoOnFromTrial(context, std::move(request));
  });
}

}  // namespace espalier
