// A check as a node manager asks for it: over a socket, in words of the trainer protocol.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"

namespace espalier::trainer_check {

struct Asked {
  std::filesystem::path folder;      // for states and logs
  Digest128 offer;                   // of its workers'
  std::vector<std::string> command;  // of a worker
  int fd = -1;                       // a connected socket
  std::string family;                // of this process; empty: none
};

// FOLDER OFFER COMMAND... --fd N. Error: kInvalidArgument.
Result<Asked> ParseArguments(const std::vector<std::string>& arguments);

// Reads one Init, whose values those of the first step are, and answers it: Done where the trainer has passed; a
// failure of its own (kTrainer) where it has failed; of the request (kRequest) where nothing can be known, since its
// training fails. Errors: where nothing is known now, and may be another time; kAborted when the peer closes the
// socket meanwhile.
Result<void> Serve(const Asked& asked);

}  // namespace espalier::trainer_check
