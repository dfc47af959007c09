// espalier trial branch TRIAL --at STEP[,STEP ...] [--set NAME=VALUE ...] [--decay SHARE [--shapes SHAPE,...]]
#include <memory>

#include "client/cli/commands.h"
#include "client/cli/trial_continue.h"
#include "client/study_file/study_values.h"

namespace espalier {
namespace {

struct Options {
  std::int64_t trial = 0;
  std::string at;
  std::int64_t steps = 0;
  std::string name;
  std::vector<std::string> changes;
  std::string decay;
  std::string shapes = "sqrt";
  std::string parameter = "lr";
  std::string end = "0";
};

// What every branch has alike.
Result<v1::Continuation> BranchOf(const Options& options) {
  v1::Continuation branch;
  branch.set_steps(options.steps);
  for (const std::string& change : options.changes) {
    ESPALIER_ASSIGN(const Setting setting, ParseSetting(change, "--set"));
    (*branch.mutable_sequences())[setting.name] = Print(setting.expression);
  }
  if (options.decay.empty()) return branch;
  v1::Decay& decay = *branch.mutable_decay();
  decay.set_parameter(options.parameter);
  ESPALIER_ASSIGN(const double share, ParseNumber(options.decay, "--decay"));
  decay.set_share(share);
  ESPALIER_ASSIGN(const double end, ParseNumber(options.end, "--end"));
  decay.set_end(end);
  return branch;
}

// One for each step, and each shape of a decay.
Result<v1::ContinueTrialRequest> RequestOf(const Options& options) {
  if (options.changes.empty() && options.decay.empty()) {
    return Wrong("", "what shall change: give --set NAME=VALUE, --decay SHARE, or both");
  }
  v1::ContinueTrialRequest request;
  request.set_trial_id(options.trial);
  request.set_name(options.name);
  ESPALIER_ASSIGN(v1::Continuation branch, BranchOf(options));
  for (const std::string& at : ListOf(options.at)) {
    ESPALIER_ASSIGN(const std::int64_t from_step, ParseWhole(at, "--at"));
    branch.set_from_step(from_step);
    if (!branch.has_decay()) {
      *request.add_continuations() = branch;
      continue;
    }
    for (const std::string& shape : ListOf(options.shapes)) {
      branch.mutable_decay()->set_shape(shape);
      *request.add_continuations() = branch;
    }
  }
  return request;
}

int Run(CommandContext& context, const Options& options) {
  Result<v1::ContinueTrialRequest> request = RequestOf(options);
  if (!request.has_value()) {
    Fail(context, request.error());
    return kExitUsage;
  }
  return GoOnFromTrial(context, *std::move(request));
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
           .help = "the step from which the changes hold; of several, a branch each",
           .placeholder = "STEP[,STEP ...]",
           .required = true},
          {.name = "--set",
           .target = &options->changes,
           .help = "NAME=VALUE: a hyper-parameter's sequence, on its own clock from there",
           .one_value_each = true},
          {.name = "--steps",
           .target = &options->steps,
           .help = "how far it shall go; left out: as far as the trial might, or to the decay's end",
           .at_least = 1},
          {.name = "--decay",
           .target = &options->decay,
           .help = "cool the learning rate down from there on: the decay's share of the branch's whole length",
           .placeholder = "SHARE"},
          {.name = "--shapes",
           .target = &options->shapes,
           .help = "of the decay: linear, cosine, sqrt (if left out), square, mirror_cosine; of several, a branch each",
           .placeholder = "SHAPE[,SHAPE ...]",
           .needs = "--decay"},
          {.name = "--parameter",
           .target = &options->parameter,
           .help = "the hyper-parameter that cools down, if not lr",
           .placeholder = "NAME",
           .needs = "--decay"},
          {.name = "--end",
           .target = &options->end,
           .help = "the value that it falls to, if not 0",
           .placeholder = "VALUE",
           .needs = "--decay"},
          {.name = "--name", .target = &options->name, .help = "of the new study; left out: trial-ID-branched"}}};
  AddServerOptions(command, context);
  AddOutputOption(command, context);
  command.run = [&context, options] { return Run(context, *options); };
  return command;
}

}  // namespace espalier
