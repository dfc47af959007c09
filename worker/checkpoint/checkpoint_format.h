// The checkpoint file: a safetensors file of a training's state that says which point it holds, so that any process can
// tell a whole file from a damaged or a foreign one, and anybody's tools can read the arrays. Layout, metadata and
// digests: docs/trainer_protocol.md. Written to a temporary name (path + ".tmp"), synced, renamed: whole or not there.
// The name itself outlives a loss of power only once the folder is synced, which the store does with its own.
// Files are written and checked as a stream: nothing of a state is held twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "worker/checkpoint/training_state.h"
#include "worker/protocol/worker_message.h"

namespace espalier {

inline constexpr std::string_view kTemporarySuffix = ".tmp";

// What a file says of itself.
struct CheckpointHead {
  worker::CheckpointIdentity identity;
  std::string state_sha256;  // as Sha256Of
};

struct WrittenCheckpoint {
  std::string state_sha256;
  std::int64_t bytes = 0;
};

// Cost: the state's digest, and its bytes once to the disk. Error: kInternal, naming the file and the system's reason
// (disk full, no such folder), or an array that is not what it says.
Result<WrittenCheckpoint> WriteCheckpointFile(const std::filesystem::path& path,
                                              const worker::CheckpointIdentity& identity, const TrainingState& state);
Result<WrittenCheckpoint> WriteCheckpointFileOfView(const std::filesystem::path& path,
                                                    const worker::CheckpointIdentity& identity, const StateView& state);

struct CheckpointFile {
  CheckpointHead head;
  TrainingState state;
};

// Error: kNotFound when there is no such file or it is damaged, foreign or of another version: all count as absent, and
// the message says which. kUnavailable when the system cannot read it now, which says nothing of the file.
Result<CheckpointFile> ReadCheckpointFile(const std::filesystem::path& path);

// As ReadCheckpointFile: checks the file from end to end, and keeps the head alone. Holds a megabyte at a time.
Result<CheckpointHead> CheckCheckpointFile(const std::filesystem::path& path);

}  // namespace espalier
