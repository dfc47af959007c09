// A user's program as a worker: the worker's side of the trainer protocol (docs/trainer_protocol.md).
#pragma once

#include <string>

#include "base/result.h"
#include "worker/script/training.h"

namespace espalier::script {

// Serves until the peer closes the socket; states that are being written are written first. Error: the socket or what
// came over it is broken.
Result<void> ServeSession(int fd, const Training::Program& program, const std::string& device_kind);

}  // namespace espalier::script
