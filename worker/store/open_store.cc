#include "worker/store/open_store.h"

#include "worker/checkpoint/gluster/gluster_checkpoint_store.h"
#include "worker/checkpoint/local_checkpoint_store.h"

namespace espalier {

Result<StoreLocation> ParseStoreLocation(const std::string& text) {
  if (!IsGlusterLocation(text)) return StoreLocation(std::filesystem::absolute(text));
  ESPALIER_ASSIGN(GlusterLocation location, ParseGlusterLocation(text));
  return StoreLocation(std::move(location));
}

Result<void> CreateStore(const StoreLocation& location) {
  if (const auto* folder = std::get_if<std::filesystem::path>(&location)) return LocalCheckpointStore::Create(*folder);
  return GlusterCheckpointStore::Create(std::get<GlusterLocation>(location));
}

std::unique_ptr<CheckpointStore> OpenStore(const StoreLocation& location, const std::filesystem::path& copies) {
  if (const auto* folder = std::get_if<std::filesystem::path>(&location)) {
    return std::make_unique<LocalCheckpointStore>(*folder);
  }
  return std::make_unique<GlusterCheckpointStore>(std::get<GlusterLocation>(location), copies);
}

}  // namespace espalier
