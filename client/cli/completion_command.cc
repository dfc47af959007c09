// espalier completion bash|zsh|fish
#include <ostream>

#include "client/cli/commands.h"
#include "client/cli/completion.h"

namespace espalier {

Command CompletionCommand(CommandContext& context, const Command& program) {
  const auto of_shell = [&](const std::string& shell, const std::string& help, std::string (*script)(const Command&)) {
    return Command{.name = shell, .help = help, .run = [&context, &program, script] {
                     context.out << script(program);
                     return kExitDone;
                   }};
  };
  return {.name = "completion",
          .help = "A script by which your shell completes these commands",
          .commands = {
              of_shell("bash", "For ~/.bashrc: source <(espalier completion bash)", BashCompletion),
              of_shell("zsh", "For ~/.zshrc, after compinit: source <(espalier completion zsh)", ZshCompletion),
              of_shell("fish", "For ~/.config/fish/config.fish: espalier completion fish | source", FishCompletion)}};
}

}  // namespace espalier
