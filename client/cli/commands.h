// Every command's registration, one a file; see command.h.
#pragma once

#include "client/cli/command.h"

namespace espalier {

void RegisterUp(CLI::App& app, CommandContext& context);
void RegisterDown(CLI::App& app, CommandContext& context);
void RegisterStudyRun(CLI::App& study, CommandContext& context);
void RegisterStudyForecast(CLI::App& study, CommandContext& context);
void RegisterStudyList(CLI::App& study, CommandContext& context);
void RegisterStudyShow(CLI::App& study, CommandContext& context);
void RegisterStudyCompare(CLI::App& study, CommandContext& context);
void RegisterStudyCancel(CLI::App& study, CommandContext& context);
void RegisterTrialList(CLI::App& trial, CommandContext& context);
void RegisterTrialShow(CLI::App& trial, CommandContext& context);
void RegisterTrialExtend(CLI::App& trial, CommandContext& context);
void RegisterTrialBranch(CLI::App& trial, CommandContext& context);
void RegisterPlanShow(CLI::App& plan, CommandContext& context);
void RegisterSequenceShow(CLI::App& sequence, CommandContext& context);
void RegisterServerList(CLI::App& server, CommandContext& context);
void RegisterTrainerList(CLI::App& trainer, CommandContext& context);
void RegisterUserAdd(CLI::App& user, CommandContext& context);
void RegisterUserList(CLI::App& user, CommandContext& context);
void RegisterUserRemove(CLI::App& user, CommandContext& context);

}  // namespace espalier
