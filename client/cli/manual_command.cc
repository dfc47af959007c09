// espalier manual
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/manual.h"

namespace espalier {

Command ManualCommand(CommandContext& context, const Command& program) {
  return {.name = "manual",
          .help = "All of this as a manual page; to read it: espalier manual | man -l -",
          .run = [&context, &program] {
            context.out << ManualPage(program);
            return kExitDone;
          }};
}

}  // namespace espalier
