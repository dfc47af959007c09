#include "tests/conformance/checkpoint_store/backend.h"
#include "tests/support/temporary_folder.h"
#include "worker/checkpoint/local_checkpoint_store.h"

namespace espalier {
namespace {

// Away as a folder is whose file system is not mounted.
class LocalBackend : public StoreBackend {
 public:
  LocalBackend() { REQUIRE(LocalCheckpointStore::Create(folder_ / "deep/store").has_value()); }
  CheckpointStore& store() override { return store_; }
  void TakeAway() override {
    std::filesystem::rename(folder_ / "deep/store", folder_ / "elsewhere");
    std::filesystem::create_directory(folder_ / "deep/store");
  }
  void BringBack() override {
    CHECK(std::filesystem::is_empty(folder_ / "deep/store"));
    std::filesystem::remove(folder_ / "deep/store");
    std::filesystem::rename(folder_ / "elsewhere", folder_ / "deep/store");
  }

 private:
  const TemporaryFolder folder_;
  LocalCheckpointStore store_{folder_ / "deep/store"};
};

}  // namespace

std::unique_ptr<StoreBackend> NewStore() { return std::make_unique<LocalBackend>(); }

}  // namespace espalier
