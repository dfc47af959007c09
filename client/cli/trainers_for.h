// The trainer that a study file names, as servers know it.
#pragma once

#include <vector>

#include "base/result.h"
#include "client/cli/command_context.h"
#include "client/connection.h"
#include "client/study_file/study_file.h"

namespace espalier {

// The trainers among which the file's is looked up: those that servers have of their own; of a trainer of the user's
// own, what servers offer by it, and the file's specification then names it (client/describe_trainer.h). What is waited
// for is said on standard error. Errors: of DescribeTrainer.
Result<std::vector<v1::TrainerDescription>> TrainersFor(CommandContext& context, Connection& connection,
                                                        StudyFile& file);

// Says why there is no trainer: of the file, if the error is one, with its line.
int FailTrainer(CommandContext& context, const StudyFile& file, const Error& error);

}  // namespace espalier
