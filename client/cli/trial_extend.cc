// espalier trial extend TRIAL --steps N
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/trial_continue.h"

namespace espalier {

Command TrialExtendCommand(CommandContext& context) {
  const auto id = std::make_shared<std::int64_t>(0);
  const auto steps = std::make_shared<std::int64_t>(0);
  const auto name = std::make_shared<std::string>();
  Command command{
      .name = "extend",
      .help = "Train a trial on, past its horizon: a study of one trial that shares all that is trained",
      .arguments = {{"TRIAL", id.get(), "the trial's id"}},
      .options = {
          {.name = "--steps", .target = steps.get(), .help = "how far it shall go", .required = true, .at_least = 1},
          {.name = "--name", .target = name.get(), .help = "of the new study; left out: trial-ID-extended"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, id, steps, name] {
    v1::ContinueTrialRequest request;
    request.set_trial_id(*id);
    request.add_continuations()->set_steps(*steps);
    request.set_name(*name);
    return GoOnFromTrial(context, std::move(request));
  };
  return command;
}

}  // namespace espalier
