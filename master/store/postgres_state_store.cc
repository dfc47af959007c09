#include "master/store/postgres_state_store.h"

#include <algorithm>

#include "master/store/connection.h"
#include "master/store/edit_rows.h"
#include "master/store/load_state.h"
#include "master/store/pq_errors.h"
#include "master/store/stored_run.h"

namespace espalier {
namespace {

constexpr int kAttemptCountMax = 5;  // of a transaction that meets serialization failures or deadlocks

tl::unexpected<Error> AnotherLeads(std::int64_t epoch) {
  return MakeError(ErrorCode::kFailedPrecondition,
                   "another master leads: epoch " + std::to_string(epoch) + " is not the database's any more");
}

Result<void> Write(pqxx::transaction_base& transaction, const RowSet& rows) {
  const std::vector<std::string> parameters = rows.Parameters();
  const pqxx::result result = transaction.exec_prepared(
      std::string(rows.statement()), pqxx::prepare::make_dynamic_params(parameters.begin(), parameters.end()));
  const std::size_t affected = result.affected_rows();
  const bool agrees = rows.check() == RowCheck::kNone   ? affected == 0
                      : rows.check() == RowCheck::kEach ? affected == rows.row_count()
                                                        : affected <= rows.row_count();
  if (agrees) return {};
  return MakeError(ErrorCode::kAborted,
                   "the database holds other than the edit expects: " + std::string(rows.statement()) + " with " +
                       std::to_string(rows.row_count()) + " rows met " + std::to_string(affected));
}

Result<void> WriteOnce(pqxx::connection& connection, std::int64_t epoch, const std::vector<RowSet>& sets) {
  pqxx::work transaction(connection);
  if (!LockLeadership(transaction, epoch)) return AnotherLeads(epoch);
  for (const RowSet& rows : sets) ESPALIER_RETURN_IF_ERROR(Write(transaction, rows));
  transaction.commit();
  return {};
}

Result<void> WriteAll(pqxx::connection& connection, std::int64_t epoch, const std::vector<RowSet>& sets) {
  for (int attempt = 1;; ++attempt) {
    try {
      return WriteOnce(connection, epoch, sets);
    } catch (...) {
      if (attempt == kAttemptCountMax || !CurrentErrorIsTransient())
        return tl::unexpected<Error>(CurrentDatabaseError());
    }
  }
}

}  // namespace

struct PostgresStateStore::Session {
  Session(const std::string& url, std::int64_t epoch) : connection(url, epoch) {}
  Connection connection;
  StoredRuns runs;
};

PostgresStateStore::PostgresStateStore(std::string database_url, std::int64_t epoch)
    : url_(std::move(database_url)), epoch_(epoch) {}

PostgresStateStore::~PostgresStateStore() = default;

Result<MasterState> PostgresStateStore::Load() {
  session_.reset();
  return WithDatabaseErrors([&]() -> Result<MasterState> {
    auto session = std::make_unique<Session>(url_, epoch_);
    pqxx::transaction<pqxx::repeatable_read> transaction(session->connection.get());
    transaction.exec("SET LOCAL enable_seqscan = on; SET LOCAL statement_timeout = 0");
    if (!LockLeadership(transaction, epoch_)) return AnotherLeads(epoch_);
    ESPALIER_ASSIGN(MasterState state, LoadState(transaction));
    transaction.commit();
    session->runs = StoredRuns(state);
    session_ = std::move(session);
    return state;
  });
}

Result<void> PostgresStateStore::Commit(const StateEdit& edit) {
  if (std::none_of(edit.begin(), edit.end(), IsStored)) return {};
  if (session_ == nullptr) return MakeError(ErrorCode::kUnavailable, "nothing is loaded from the database");
  std::unique_ptr<Session> session = std::move(session_);  // given back only when all went well
  ESPALIER_ASSIGN(const std::vector<StoredRuns::Change> runs, session->runs.Follow(edit));
  ESPALIER_ASSIGN(const std::vector<RowSet> sets, RowsOf(edit, runs));
  ESPALIER_RETURN_IF_ERROR(WriteAll(session->connection.get(), epoch_, sets));
  session->runs.Accept(runs);
  session_ = std::move(session);
  return {};
}

}  // namespace espalier
