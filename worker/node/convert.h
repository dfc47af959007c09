// The trainer protocol between the core's own words and protobuf: the bytes of frames, and the heads of checkpoint
// files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "protocol/report.h"
#include "worker/node/core/worker_message.h"

namespace espalier::node {

std::string Encode(const WorkerRequest& request);

// Error: kInvalidArgument when the bytes are no reply, or describe what is no offer.
Result<WorkerReply> DecodeReply(std::string_view bytes);

// What the head of a checkpoint file says. File name, size and time are left open.
struct StateOfRun {
  RunKey run;
  StateStored state;
};

// Error: kInvalidArgument when the bytes are no CheckpointHead.
Result<StateOfRun> DecodeCheckpointHead(std::string_view bytes);

}  // namespace espalier::node
