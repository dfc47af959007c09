// A checkpoint store in a GlusterFS volume, reached through libgfapi: no file system is mounted. Files are copied here
// to be read, once for all who read them at a time.
// A file appears under its name only when all of it is on the bricks: it is written to name + ".tmp", synced, renamed.
// While the volume has no quorum, or its servers cannot be reached, the store is away; a call may then take as long as
// the volume's network.ping-timeout. The process connects to a volume when it is first used, and again when that has
// failed or was given up (after 20 s, then twice as long each time), each time beginning with another of its servers;
// it stays connected for good. What libgfapi has to say goes to standard error. Thread-safe.
#pragma once

#include <filesystem>
#include <memory>

#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/gluster/gluster_location.h"
#include "worker/checkpoint/names_in_use.h"

namespace espalier {

class GlusterCheckpointStore : public CheckpointStore {
 public:
  // `copies`: a folder of this machine for what is fetched, and of nobody else.
  GlusterCheckpointStore(GlusterLocation location, std::filesystem::path copies);
  ~GlusterCheckpointStore() override;

  // Makes the folder, those above it, and the store's sign in it, once in its life: when a server is set up. It may be
  // there already. Error: kUnavailable.
  static Result<void> Create(const GlusterLocation& location);

  Result<void> Put(const std::filesystem::path& staged, std::string_view name) override;
  Result<PinnedFile> Fetch(std::string_view name) override;
  Result<void> Remove(std::string_view name) override;
  Result<std::vector<ListedFile>> List() override;
  Result<StoreSpace> Space() override;

 private:
  class Volume;

  void Release(const std::string& name);
  std::filesystem::path CopyOf(std::string_view name) const;

  const std::filesystem::path copies_;
  const std::unique_ptr<Volume> volume_;
  NamesInUse names_;
};

}  // namespace espalier
