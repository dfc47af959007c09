// Every command, one a file.
#pragma once

#include "client/cli/command_context.h"

namespace espalier {

Command UpCommand(CommandContext& context);
Command DownCommand(CommandContext& context);
Command DoctorCommand(CommandContext& context);
Command StudyRunCommand(CommandContext& context);
Command StudyForecastCommand(CommandContext& context);
Command StudyListCommand(CommandContext& context);
Command StudyShowCommand(CommandContext& context);
Command StudyWatchCommand(CommandContext& context);
Command StudyBestCommand(CommandContext& context);
Command StudyExportCommand(CommandContext& context);
Command StudyCompareCommand(CommandContext& context);
Command StudyPinCommand(CommandContext& context);
Command StudyCancelCommand(CommandContext& context);
Command TrialListCommand(CommandContext& context);
Command TrialShowCommand(CommandContext& context);
Command TrialExplainCommand(CommandContext& context);
Command TrialLogsCommand(CommandContext& context);
Command TrialExtendCommand(CommandContext& context);
Command TrialBranchCommand(CommandContext& context);
Command TrialCancelCommand(CommandContext& context);
Command StageExplainCommand(CommandContext& context);
Command StageRetryCommand(CommandContext& context);
Command CheckpointListCommand(CommandContext& context);
Command CheckpointExportCommand(CommandContext& context);
Command CheckpointGcCommand(CommandContext& context);
Command PlanShowCommand(CommandContext& context);
Command SequenceShowCommand(CommandContext& context);
Command QuotaCommand(CommandContext& context);
Command SimulateCommand(CommandContext& context);
Command ServerListCommand(CommandContext& context);
Command ServerPolicyCommand(CommandContext& context);
Command ServerDrainCommand(CommandContext& context);
Command ServerLogsCommand(CommandContext& context);
Command TrainerListCommand(CommandContext& context);
Command TrainerCheckCommand(CommandContext& context);
Command TunerHostCommand(CommandContext& context);
Command UserAddCommand(CommandContext& context);
Command UserListCommand(CommandContext& context);
Command UserRemoveCommand(CommandContext& context);

// About the program's commands themselves. REQUIRES: `program` lives as long as the command, and is complete when it
// runs.
Command CompletionCommand(CommandContext& context, const Command& program);
Command ManualCommand(CommandContext& context, const Command& program);

}  // namespace espalier
