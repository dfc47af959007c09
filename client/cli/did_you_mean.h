// What is wrong with a command line that does not parse, where a name in it is mistyped. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/cli/command.h"

namespace espalier {

// The first word that stands where a command or an option is to stand and is none, with the one that was probably
// meant, or those that there are: "no command stduy, did you mean study?". None: all names are known.
std::optional<std::string> Mistyped(const Command& program, const std::vector<std::string>& arguments);

}  // namespace espalier
