#include "client/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "client/cli/commands.h"

namespace espalier {
namespace {

CLI::App& AddNoun(CLI::App& app, const std::string& name, const std::string& description) {
  CLI::App& noun = *app.add_subcommand(name, description);
  noun.require_subcommand(1);
  return noun;
}

// Every command of the program: one line each, in the order in which help shows them.
void RegisterCommands(CLI::App& app, CommandContext& context) {
  CLI::App& study = AddNoun(app, "study", "Studies: run a study file, look at results, compare, cancel");
  RegisterStudyRun(study, context);
  RegisterStudyForecast(study, context);
  RegisterStudyList(study, context);
  RegisterStudyShow(study, context);
  RegisterStudyCompare(study, context);
  RegisterStudyCancel(study, context);
  CLI::App& trial = AddNoun(app, "trial", "Trials: list those of a study, show one, go on from one");
  RegisterTrialList(trial, context);
  RegisterTrialShow(trial, context);
  RegisterTrialExtend(trial, context);
  RegisterTrialBranch(trial, context);
  RegisterPlanShow(AddNoun(app, "plan", "The search plan: the tree that trials share"), context);
  RegisterSequenceShow(AddNoun(app, "sequence", "Sequences of hyper-parameter values"), context);
  RegisterServerList(AddNoun(app, "server", "The machines that train"), context);
  RegisterTrainerList(AddNoun(app, "trainer", "What can be trained"), context);
  CLI::App& user = AddNoun(app, "user", "Who may use the service (for administrators)");
  RegisterUserAdd(user, context);
  RegisterUserList(user, context);
  RegisterUserRemove(user, context);
}

}  // namespace

int RunCommandLine(std::vector<std::string> arguments, CommandContext& context) {
  CLI::App app(
      "Espalier trains trees, not trials: trials whose hyper-parameter sequences begin alike train the common "
      "beginning once.",
      "espalier");
  app.require_subcommand(1);
  RegisterUp(app, context);
  RegisterDown(app, context);
  RegisterCommands(app, context);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, context.out, context.err) == 0 ? kExitDone : kExitUsage;
  }
  return context.chosen();
}

}  // namespace espalier
