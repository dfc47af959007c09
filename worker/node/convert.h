// The only place where the node manager's own words meet protobuf messages: the trainer protocol as bytes of frames,
// the heads of checkpoint files, and the messages of the stream to the master.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "worker/node/core/core.h"

namespace espalier::v1 {
class SynchronizeRequest;
class SynchronizeResponse;
}  // namespace espalier::v1

namespace espalier::node {

std::string Encode(const WorkerRequest& request);

// Error: kInvalidArgument when the bytes are no reply.
Result<WorkerReply> DecodeReply(std::string_view bytes);

// A checkpoint file's point, its metrics and its state's digest; the checkpoint's size and name are left open.
struct CheckpointOfRun {
  RunId run;
  PointReached point;
};

// Error: kInvalidArgument when the bytes are no CheckpointHead.
Result<CheckpointOfRun> DecodeCheckpointHead(std::string_view bytes);

// What this node manager is.
struct Registration {
  std::string server;
  std::string incarnation;
  int slot_count = 1;
  Description description;
  friend bool operator==(const Registration&, const Registration&) = default;
};

void Add(const Registration& registration, v1::SynchronizeRequest& request);
void Add(const std::vector<RunStatus>& statuses, v1::SynchronizeRequest& request);
void Add(const std::vector<Report>& reports, v1::SynchronizeRequest& request);

// A configuration that cannot be parsed becomes an empty one: the run is then refused as defective.
DesiredState FromProto(const v1::SynchronizeResponse& response);

}  // namespace espalier::node
