// espalier trial branch TRIAL --at STEP --set NAME=VALUE
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/study_values.h"
#include "client/cli/trial_continue.h"

namespace espalier {
namespace {

struct Options {
  std::int64_t trial = 0;
  std::int64_t at = 0;
  std::int64_t steps = 0;
  std::string name;
  std::vector<std::string> changes;
};

int Run(CommandContext& context, const Options& options) {
  v1::ContinueTrialRequest request;
  request.set_trial_id(options.trial);
  request.set_from_step(options.at);
  request.set_steps(options.steps);
  request.set_name(options.name);
  for (const std::string& change : options.changes) {
    const auto parsed = ParseSetting(change, "--set");
    if (!parsed.has_value()) {
      Fail(context, parsed.error());
      return kExitUsage;
    }
    (*request.mutable_sequences())[parsed->name] = Print(parsed->expression);
  }
  return GoOnFromTrial(context, std::move(request));
}

}  // namespace

Command TrialBranchCommand(CommandContext& context) {
  const auto options = std::make_shared<Options>();
  Command command{
      .name = "branch",
      .help = "Train a trial again from a step on with other hyper-parameters: what came before is shared",
      .arguments = {{"TRIAL", &options->trial, "the trial's id"}},
      .options = {
          {.name = "--at",
           .target = &options->at,
           .help = "the step from which the changes hold",
           .required = true,
           .at_least = 0},
          {.name = "--set",
           .target = &options->changes,
           .help = "NAME=VALUE: a hyper-parameter's sequence, on its own clock from there",
           .required = true,
           .one_value_each = true},
          {.name = "--steps",
           .target = &options->steps,
           .help = "how far it shall go; left out: as far as the trial might",
           .at_least = 1},
          {.name = "--name", .target = &options->name, .help = "of the new study; left out: trial-ID-branched"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
