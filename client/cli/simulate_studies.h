// `espalier simulate FILE...`: how long studies take under policies and scopes, each simulated in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/command_context.h"

namespace espalier {

struct StudiesToSimulate {
  std::vector<std::string> files;
  std::string policies = "critical_path";  // by commas
  std::string shares{};                    // scopes by commas; empty: as each file says
  std::string metrics = "formula";         // or a CSV file
  std::string servers{};                   // a YAML file; empty: one server
  std::string arrivals{};                  // a YAML file; empty: all come at once
  std::int64_t slots = 2;                  // of the one server
  std::int64_t step_seconds = 1;           // on a server of speed 1
  std::int64_t seed = 1;
};

// Prints, and gives back the ExitCode.
int SimulateStudies(CommandContext& context, const StudiesToSimulate& wanted);

}  // namespace espalier
