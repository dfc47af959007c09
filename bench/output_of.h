// Other programs, for what they print.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace espalier::bench {

// Runs a program, found as a shell would, with its arguments to its end: its standard output. Nothing if it fails.
std::optional<std::string> OutputOf(const std::vector<std::string>& command);

}  // namespace espalier::bench
