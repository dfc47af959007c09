// Which kind of checkpoint store it is: its location decides. For the programs that use stores.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "base/result.h"
#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/gluster/gluster_location.h"

namespace espalier {

// A directory that all servers see, absolute; or a folder of a GlusterFS volume.
using StoreLocation = std::variant<std::filesystem::path, GlusterLocation>;

// Error: kInvalidArgument, for what begins with gfapi:// and is no location.
Result<StoreLocation> ParseStoreLocation(const std::string& text);

// Makes the store where there is none: when a server is set up. Error: the system's reason.
Result<void> CreateStore(const StoreLocation& location);

// What is not there is a store that is away. `copies`: a folder of this machine, of nobody else, for what the store has
// to copy in order to read it.
std::unique_ptr<CheckpointStore> OpenStore(const StoreLocation& location, const std::filesystem::path& copies);

}  // namespace espalier
