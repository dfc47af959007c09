#include "base/check.h"
#include "master/store/leadership.h"
#include "master/store/migrate.h"
#include "master/store/postgres_history_store.h"
#include "master/store/postgres_state_store.h"
#include "tests/conformance/state_store/backend.h"
#include "tests/conformance/state_store/shared_postgres.h"

namespace espalier::master {
namespace {

class PostgresBackend : public Backend {
 public:
  PostgresBackend() : url_(SharedPostgres().NewDatabase()) {
    const Result<void> migrated = Migrate(url_);
    ESPALIER_CHECK(migrated.has_value()) << migrated.error().message;
    TakeOver();
  }

  std::unique_ptr<StateStore> Open() override {
    return std::make_unique<PostgresStateStore>(url_, leadership_->epoch());
  }

  std::unique_ptr<HistoryStore> OpenHistory() override {
    return std::make_unique<PostgresHistoryStore>(url_, leadership_->epoch());
  }

  void TakeOver() override {
    leadership_.reset();
    SharedPostgres().CutConnections(url_);  // as if the old master were gone: nobody has to be waited for
    auto acquired = Leadership::Acquire(url_, "conformance suite", {}, {.lost = [](const Error&) {}});
    ESPALIER_CHECK(acquired.has_value()) << acquired.error().message;
    leadership_ = *std::move(acquired);
  }

 private:
  const std::string url_;
  std::unique_ptr<Leadership> leadership_;
};

}  // namespace

TestPostgres& SharedPostgres() {
  static TestPostgres postgres;
  return postgres;
}

std::unique_ptr<Backend> NewBackend() { return std::make_unique<PostgresBackend>(); }

}  // namespace espalier::master
