// Which machine a process runs on: so that a path of one process means something to another.
#pragma once

#include <string>

namespace espalier {

// The same for all processes of a machine, and of no other: its lasting id, or, where it has none, that of its start.
// Empty if it has neither.
std::string ThisMachine();

}  // namespace espalier
