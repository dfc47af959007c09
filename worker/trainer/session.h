// The worker's side of the trainer protocol (proto/espalier/v1/trainer.proto): reads requests from a socket, trains,
// and replies. Requests are handled by the calling thread; files are written, and their replies sent, by one more.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "worker/trainer/trainer.h"

namespace espalier::trainer {

// Serves until the peer closes the socket; states that are being saved are written first.
// Error: the socket or what came over it is broken.
Result<void> ServeSession(int fd, const std::vector<TrainerKind>& kinds, const std::string& device_kind);

}  // namespace espalier::trainer
