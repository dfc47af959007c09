// What a study came to, for whoever waited for its end.
#pragma once

#include "base/ids.h"
#include "client/cli/command_context.h"
#include "client/connection.h"

namespace espalier {

// Prints the study, and in text its best trials. Returns the exit code: refused where somebody
// cancelled it, or the check of its trainer stopped it.
int ShowResult(CommandContext& context, Connection& connection, StudyId id);

}  // namespace espalier
