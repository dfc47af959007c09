#include "master/store/postgres_state_store.h"

#include <algorithm>
#include <set>
#include <string>

#include "master/store/connection.h"
#include "master/store/edit_rows.h"
#include "master/store/load_state.h"
#include "master/store/pq_errors.h"
#include "master/store/write_connection.h"

namespace espalier::master {
namespace {

// Whole tables are read, to their ends, however long that takes: a plan that begins soon takes longer.
constexpr char kReadAll[] =
    "SET LOCAL enable_seqscan = on; SET LOCAL statement_timeout = 0; SET LOCAL cursor_tuple_fraction = 1";

}  // namespace

struct PostgresStateStore::Session {
  WriteConnection connection;
  std::set<std::string> evaluations{};  // known to be stored: a statement less for each report
};

PostgresStateStore::PostgresStateStore(std::string database_url, std::int64_t epoch)
    : url_(std::move(database_url)), epoch_(epoch) {}

PostgresStateStore::~PostgresStateStore() = default;

Result<MasterState> PostgresStateStore::Load() {
  session_.reset();
  return WithDatabaseErrors([&]() -> Result<MasterState> {
    Connection connection(url_, epoch_);
    pqxx::transaction<pqxx::repeatable_read> transaction(connection.get());
    if (!LockLeadership(transaction, epoch_)) return AnotherLeads(epoch_);
    const std::string snapshot = transaction.exec1("SELECT pg_export_snapshot()").front().as<std::string>();
    transaction.exec(kReadAll);
    Connection another(url_, epoch_, "run/");
    pqxx::transaction<pqxx::repeatable_read> beside(another.get());
    beside.exec("SET TRANSACTION SNAPSHOT " + beside.quote(snapshot));
    beside.exec(kReadAll);
    ESPALIER_ASSIGN(MasterState state, LoadState(transaction, beside));
    beside.commit();
    transaction.commit();
    ESPALIER_ASSIGN(WriteConnection writer, WriteConnection::Open(url_, epoch_));
    session_ = std::make_unique<Session>(Session{std::move(writer)});
    return state;
  });
}

Result<void> PostgresStateStore::Commit(const StateEdit& edit) {
  if (std::none_of(edit.begin(), edit.end(), IsStored)) return {};
  if (session_ == nullptr) return MakeError(ErrorCode::kUnavailable, "nothing is loaded from the database");
  std::unique_ptr<Session> session = std::move(session_);  // given back only when all went well
  ESPALIER_ASSIGN(const std::vector<RowSet> sets, RowsOf(edit, session->evaluations));
  ESPALIER_RETURN_IF_ERROR(session->connection.Write(sets));
  session_ = std::move(session);
  return {};
}

}  // namespace espalier::master
