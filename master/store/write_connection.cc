#include "master/store/write_connection.h"

#include "master/store/connection.h"
#include "master/store/embedded_sql.h"
#include "master/store/pq_errors.h"

namespace espalier::master {
namespace {

// Each statement is planned once: planning takes longer than writing one row. What was planned while a table was small
// must be right when it is large, so statements reach stored rows by their keys alone ("= ANY"), and are joined to the
// given ones by hashing.
constexpr char kPlanOnce[] = "SET plan_cache_mode = force_generic_plan; SET enable_nestloop = off";

constexpr char kDivisionByZero[] = "22012";  // how statements say that memory and database disagree

constexpr int kAttemptCountMax = 5;  // of a transaction that meets serialization failures or deadlocks

struct ResultCloser {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultHandle = std::unique_ptr<PGresult, ResultCloser>;

Error ErrorOf(const PGconn* connection) { return DatabaseError("", PQerrorMessage(connection)); }

Error ErrorOf(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return DatabaseError(state == nullptr ? "" : state, PQresultErrorMessage(result));
}

bool SendPrepared(PGconn* connection, const std::string& name, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  return PQsendQueryPrepared(connection, name.c_str(), static_cast<int>(values.size()), values.data(), nullptr, nullptr,
                             0) == 1;
}

bool IsError(const ResultHandle& result) {
  const ExecStatusType status = PQresultStatus(result.get());
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_PIPELINE_SYNC;
}

}  // namespace

struct WriteConnection::Outcome {
  Result<void> result;
  std::string sql_state{};           // of the error
  std::size_t failed_statement = 0;  // of those sent, from 0

  // Serialization failure, deadlock: a new transaction may not meet them.
  bool MayRetry() const { return sql_state == "40001" || sql_state == "40P01"; }
};

Result<WriteConnection> WriteConnection::Open(const std::string& url, std::int64_t epoch) {
  Handle handle(PQconnectdb(BoundedUrl(url).c_str()));
  if (PQstatus(handle.get()) != CONNECTION_OK) return tl::unexpected(ErrorOf(handle.get()));
  WriteConnection connection(std::move(handle), epoch);
  ESPALIER_RETURN_IF_ERROR(connection.Prepare());
  return connection;
}

Result<void> WriteConnection::Prepare() {
  PGconn* const connection = connection_.get();
  std::vector<std::string> settings = SessionSettings(epoch_);
  settings.emplace_back(kPlanOnce);
  for (const std::string& setting : settings) {
    const ResultHandle set(PQexec(connection, setting.c_str()));
    if (IsError(set)) return tl::unexpected(ErrorOf(set.get()));
  }
  bool sent = PQenterPipelineMode(connection) == 1;
  for (const EmbeddedSql& query : EmbeddedQueries()) {
    sent = sent &&
           PQsendPrepare(connection, std::string(query.name).c_str(), std::string(query.text).c_str(), 0, nullptr) == 1;
  }
  if (!sent || PQpipelineSync(connection) != 1) return tl::unexpected(ErrorOf(connection));
  return Receive().result;
}

WriteConnection::Outcome WriteConnection::Receive() {
  Outcome outcome;
  std::size_t statement = 0;
  while (true) {
    const ResultHandle result(PQgetResult(connection_.get()));
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
      if (outcome.result.has_value()) outcome.result = tl::unexpected(ErrorOf(connection_.get()));
      return outcome;
    }
    if (result == nullptr) {  // after each statement's own results; the commit has none unless it fails
      ++statement;
      continue;
    }
    if (PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) return outcome;
    if (!outcome.result.has_value() || !IsError(result)) continue;  // the first error counts
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    outcome = {tl::unexpected(ErrorOf(result.get())), state == nullptr ? "" : state, statement};
  }
}

WriteConnection::Outcome WriteConnection::WriteOnce(const std::vector<RowSet>& sets) {
  PGconn* const connection = connection_.get();
  bool sent = SendPrepared(connection, "leadership/require", {std::to_string(epoch_)});
  for (const RowSet& rows : sets) {
    sent = sent && SendPrepared(connection, std::string(rows.statement()), rows.Parameters());
  }
  if (!sent || PQpipelineSync(connection) != 1) return {tl::unexpected(ErrorOf(connection))};
  Outcome outcome = Receive();
  if (outcome.result.has_value() || outcome.sql_state != kDivisionByZero) return outcome;
  if (outcome.failed_statement == 0) return {AnotherLeads(epoch_)};
  const std::size_t set = outcome.failed_statement - 1;
  return {MakeError(ErrorCode::kAborted,
                    "the database holds other than the edit expects: " + std::string(sets.at(set).statement()) +
                        " with " + std::to_string(sets.at(set).row_count()) + " rows")};
}

Result<void> WriteConnection::Write(const std::vector<RowSet>& sets) {
  for (int attempt = 1;; ++attempt) {
    const Outcome written = WriteOnce(sets);
    if (written.result.has_value() || !written.MayRetry() || attempt == kAttemptCountMax) return written.result;
  }
}

}  // namespace espalier::master
