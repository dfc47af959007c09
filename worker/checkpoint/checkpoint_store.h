// Where checkpoints live: a filesystem that all servers see. Files are named once and never changed.
// A store that cannot be reached, or that gives errors, is *away*, which says nothing of any file: kUnavailable, with
// the system's reason; wait and try again. Every other error is final. Thread-safe: any thread may call.
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
  // replaces it by equal content. Error: kUnavailable, also when there is no space; kNotFound when there is no staged
  // file; kInvalidArgument when this cannot be a name.
  virtual Result<void> Put(const std::filesystem::path& staged, std::string_view name) = 0;

  // A local path at which the whole file can be read. Error: kUnavailable; kNotFound when the store has no such file.
  virtual Result<std::filesystem::path> Fetch(std::string_view name) = 0;

  // Removing what is not there succeeds. Error: kUnavailable.
  virtual Result<void> Remove(std::string_view name) = 0;

  // All names, sorted. Error: kUnavailable.
  virtual Result<std::vector<std::string>> List() = 0;
};

}  // namespace espalier
