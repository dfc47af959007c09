// Where checkpoints live: a filesystem that all servers see. Files are named once and never changed.
// Thread-safe: any thread may call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier {

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;

  // Makes the staged file durable in the store as `name` (relative, may have folders) and returns once it is. The
  // staged file remains, so that whoever restarts knows that it may not have been reported. Putting the same name again
  // replaces it by equal content. Error: kInternal or kResourceExhausted (no space), with the system's reason.
  virtual Result<void> Put(const std::filesystem::path& staged, std::string_view name) = 0;

  // A local path at which the whole file can be read. Error: kNotFound.
  virtual Result<std::filesystem::path> Fetch(std::string_view name) = 0;

  // Removing what is not there succeeds.
  virtual Result<void> Remove(std::string_view name) = 0;

  // All names, sorted.
  virtual Result<std::vector<std::string>> List() = 0;
};

}  // namespace espalier
