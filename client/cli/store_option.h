// The checkpoint store that a command works on.
#pragma once

#include <string>

#include "base/result.h"
#include "client/cli/command_context.h"
#include "client/store_program.h"

namespace espalier {

// --store PLACE
void AddStoreOption(Command& command, std::string& place);

// `place`: as --store gave it; empty: that of the node manager that `espalier up` runs on the data directory. Error:
// kFailedPrecondition when no place is known.
Result<StoreProgram> FindStore(const CommandContext& context, const std::string& place);

}  // namespace espalier
