// The manual page of the command line, made of its commands. Pure.
#pragma once

#include <string>

#include "client/cli/command.h"

namespace espalier {

// In the language of man pages (roff): every command with its arguments and options.
std::string ManualPage(const Command& program);

}  // namespace espalier
