// The trainer protocol on the wire: JSON as protobuf maps messages to it (docs/trainer_protocol.md says the rules;
// proto/espalier/v1/trainer.proto the fields), read and written without protobuf, since a worker has none.
// Readers take what a program of any language may write: whole numbers as numbers or as text, left-out fields as
// defaults, fields they do not know. Errors of all that read: kInvalidArgument, naming the field.
// Pure. Cost: linear in the message; deeper than any message is, nothing is kept of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/protocol/worker_message.h"

namespace espalier::worker {

std::string Encode(const WorkerRequest& request);
Result<WorkerRequest> DecodeRequest(std::string_view json);
// Of a request that cannot be decoded: to which the answer says why. 0: it has none.
std::int64_t RequestId(std::string_view json);

std::string Encode(const WorkerReply& reply);
Result<WorkerReply> DecodeReply(std::string_view json);

// As a checkpoint file carries it.
std::string Print(const CheckpointIdentity& identity);
// Error also when an id is missing: a file that names no run, plan node and lineage is none of ours.
Result<CheckpointIdentity> ParseCheckpointIdentity(std::string_view json);

}  // namespace espalier::worker
