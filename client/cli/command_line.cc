#include "client/cli/command_line.h"

#include <utility>

#include "base/version.h"
#include "client/cli/commands.h"

namespace espalier {
namespace {

Command Noun(const std::string& name, const std::string& help, std::vector<Command> commands) {
  return {.name = name, .help = help, .commands = std::move(commands)};
}

// Every command of the program, in the order in which help shows them.
std::vector<Command> Commands(CommandContext& context) {
  return {UpCommand(context),
          DownCommand(context),
          DoctorCommand(context),
          Noun("study", "Studies: run a study file, watch it, look at results, export, compare, pin, cancel",
               {StudyRunCommand(context), StudyForecastCommand(context), StudyListCommand(context),
                StudyShowCommand(context), StudyWatchCommand(context), StudyBestCommand(context),
                StudyExportCommand(context), StudyCompareCommand(context), StudyPinCommand(context),
                StudyCancelCommand(context)}),
          Noun("trial",
               "Trials: list those of a study, show one, what became of it and what it printed, go on from one, cancel",
               {TrialListCommand(context), TrialShowCommand(context), TrialExplainCommand(context),
                TrialLogsCommand(context), TrialExtendCommand(context), TrialBranchCommand(context),
                TrialCancelCommand(context)}),
          Noun("plan", "The search plan: the tree that trials share", {PlanShowCommand(context)}),
          Noun("stage", "Stages of the plan: why one waits or failed, and trying again",
               {StageExplainCommand(context), StageRetryCommand(context)}),
          Noun("checkpoint", "Stored states: list those of a study, export one, collect what nobody needs",
               {CheckpointListCommand(context), CheckpointExportCommand(context), CheckpointGcCommand(context)}),
          QuotaCommand(context),
          Noun("sequence", "Sequences of hyper-parameter values", {SequenceShowCommand(context)}),
          Noun("server", "The machines that train: list them, take one out of service, choose what is trained first",
               {ServerListCommand(context), ServerDrainCommand(context), ServerPolicyCommand(context),
                ServerLogsCommand(context)}),
          Noun("trainer", "What can be trained, and whether it can be cut",
               {TrainerListCommand(context), TrainerCheckCommand(context)}),
          SimulateCommand(context),
          TunerHostCommand(context),
          Noun("user", "Who may use the service (for administrators)",
               {UserAddCommand(context), UserListCommand(context), UserRemoveCommand(context)})};
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, CommandContext& context) {
  Command program =
      Noun("espalier",
           "Espalier trains trees, not trials: trials whose hyper-parameter sequences begin alike train the common "
           "beginning once.",
           Commands(context));
  program.version = Version();
  program.commands.push_back(CompletionCommand(context, program));
  program.commands.push_back(ManualCommand(context, program));
  return RunChosen(program, arguments, context.out, context.err);
}

}  // namespace espalier
