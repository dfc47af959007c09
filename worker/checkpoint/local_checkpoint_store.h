// A checkpoint store in a directory that all servers see (a local disk where there is one server).
// A file appears under its name only when it is whole and durable: it is linked (on one filesystem) or copied to
// name + ".tmp", then renamed. A process killed between the two leaves that temporary; putting the name again, which a
// restarted node manager does with all that it finds in staging, takes it away.
// Several servers may use the directory at once; one name is put by one process at a time. A directory that is not
// there, or has no sign of the store, is a store that is away, never a new one. What one process pins, another may
// remove. Thread-safe.
#pragma once

#include "worker/checkpoint/checkpoint_store.h"
#include "worker/checkpoint/names_in_use.h"

namespace espalier {

class LocalCheckpointStore : public CheckpointStore {
 public:
  explicit LocalCheckpointStore(std::filesystem::path folder);

  // Makes the directory, those above it, and the sign in it, once in its life: when a server is set up. It may be there
  // already.
  // Error: kInternal or kResourceExhausted, with the system's reason.
  static Result<void> Create(const std::filesystem::path& folder);

  // A pinned file lies where the store has it.
  Result<void> Put(const std::filesystem::path& staged, std::string_view name) override;
  Result<PinnedFile> Fetch(std::string_view name) override;
  Result<void> Remove(std::string_view name) override;
  Result<std::vector<ListedFile>> List() override;
  Result<StoreSpace> Space() override;

 private:
  Result<void> CheckIsThere() const;
  Result<void> RemoveNow(const std::filesystem::path& path);
  void Release(const std::string& name);

  const std::filesystem::path folder_;
  NamesInUse names_;
};

}  // namespace espalier
