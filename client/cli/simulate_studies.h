// `espalier simulate FILE...`, or `--trace FILE`: how long studies take under policies and scopes, each simulated in
// turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/command_context.h"

namespace espalier {

struct StudiesToSimulate {
  std::vector<std::string> files;
  std::string trace{};                    // instead of files: what really happened
  std::optional<std::string> policies{};  // by commas; none: critical_path, or the trace's
  std::string shares{};                   // scopes by commas; empty: as each file says
  std::string metrics = "formula";        // or a CSV file
  std::string servers{};                  // a YAML file; empty: one server
  std::string arrivals{};                 // a YAML file; empty: all come at once
  std::optional<int> slots{};             // of the one server; none: 2, or the trace's servers
  std::string step_seconds{};             // on a server of speed 1, or a CSV file; empty: 1, or the trace's times
  std::int64_t save_every = 0;            // steps; 0: where it pays
  std::string plot{};                     // the file of a picture to be drawn; empty: none
  std::int64_t seed = 1;
};

// Prints, and gives back the ExitCode.
int SimulateStudies(CommandContext& context, const StudiesToSimulate& wanted);

}  // namespace espalier
