// The worker's command line: espalier-worker [--trainer NAME|FILE] ... [--data DATA] ... --fd N
// `espalier up --worker "COMMAND"` adds the last two words. Each option may be given several times; without them the
// worker offers all trainers that are built in, on the data that is built in.
#pragma once

#include "worker/trainer/registry.h"

namespace espalier::trainer {

struct CommandLine {
  int fd = -1;  // a connected socket that speaks the trainer protocol
  TrainerChoice choice;
};

// How many batches are fetched ahead, in the environment as ESPALIER_PREFETCH; empty: `otherwise`. Error:
// kInvalidArgument: it is no whole number of at least 0.
Result<std::size_t> ParsePrefetch(const std::string& text, std::size_t otherwise);

// Error: kInvalidArgument: what is no option, or lacks its value.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace espalier::trainer
