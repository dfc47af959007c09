// The checkpoint file: a frame around a trainer's state, so that any process can tell a whole file from a damaged or a
// foreign one. Little-endian:
//   8 bytes "ESPALIER", u32 version (1), u32 head length, u64 payload length, head, payload, 16 bytes checksum
// The head is a serialized espalier.v1.CheckpointHead, opaque here; the checksum is the 128-bit digest of all before
// it. Written to a temporary name (path + ".tmp"), synced, renamed: whole or not there. The name itself outlives a loss
// of power only once the folder is synced, which the store does with its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

inline constexpr std::string_view kTemporarySuffix = ".tmp";

// Error: kInternal, naming the file and the system's reason (disk full, no such folder).
Result<void> WriteCheckpointFile(const std::filesystem::path& path, std::string_view head, std::string_view payload);

struct CheckpointFile {
  std::string head;
  std::string payload;
};

// Error: kNotFound when there is no such file or it is damaged, foreign or of another version: all count as absent, and
// the message says which. kUnavailable when the system cannot read it now, which says nothing of the file.
Result<CheckpointFile> ReadCheckpointFile(const std::filesystem::path& path);

// As ReadCheckpointFile, checking the whole file but keeping the head alone.
Result<std::string> ReadCheckpointHead(const std::filesystem::path& path);

}  // namespace espalier
