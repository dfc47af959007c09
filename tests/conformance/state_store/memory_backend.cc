#include "sim/memory_history_store.h"
#include "sim/memory_state_store.h"
#include "tests/conformance/state_store/backend.h"

namespace espalier::master {
namespace {

class MemoryBackend : public Backend {
 public:
  std::unique_ptr<StateStore> Open() override { return std::make_unique<MemoryStateStore>(database_); }
  std::unique_ptr<HistoryStore> OpenHistory() override { return std::make_unique<MemoryHistoryStore>(database_); }
  void TakeOver() override { ++database_->epoch; }

 private:
  std::shared_ptr<MemoryDatabase> database_ = std::make_shared<MemoryDatabase>();
};

}  // namespace

std::unique_ptr<Backend> NewBackend() { return std::make_unique<MemoryBackend>(); }

}  // namespace espalier::master
