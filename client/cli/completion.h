// Scripts by which shells complete the command line, made of its commands: names of commands and options, the values
// that an option takes, and files where one is asked for. Pure.
#pragma once

#include <string>

#include "client/cli/command.h"

namespace espalier {

// To be sourced: `source <(espalier completion bash)`.
std::string BashCompletion(const Command& program);
// To be sourced after compinit, or put into a folder of $fpath as "_espalier".
std::string ZshCompletion(const Command& program);
// To be sourced: `espalier completion fish | source`.
std::string FishCompletion(const Command& program);

}  // namespace espalier
