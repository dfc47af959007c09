// Trainers of the user's own: a study file names them as FILE.py:NAME, script:FILE, library:FILE.so,
// torchscript:FILE.pt or command:LINE, or names a folder as data of one that is built in, and the service runs them
// without being told before. Code travels as an archive: the user's own Python makes it, or `espalier-script`; a
// library or module is one.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/cli/command_context.h"
#include "client/connection.h"
#include "client/study_file/study_file.h"

namespace espalier {

// The trainers among which the file's is looked up: those that servers have of their own; of a trainer of the user's
// own, what servers offer by it, and the file's specification then names it. For that the archive is made and sent, if
// the service has it not, and it is waited until a server offers the trainer or all that are connected have refused it:
// what is waited for is said on standard error. Errors: kInvalidArgument with the field, for code that cannot travel;
// kFailedPrecondition with each server's reason; else the master's.
Result<std::vector<v1::TrainerDescription>> TrainersFor(CommandContext& context, Connection& connection,
                                                        StudyFile& file);

// Says why there is no trainer: of the file, if the error is one, with its line.
int FailTrainer(CommandContext& context, const StudyFile& file, const Error& error);

}  // namespace espalier
