#include "master/store/postgres_history_store.h"

#include "master/store/each_row.h"
#include "master/store/lazy_connection.h"
#include "master/store/read_rows.h"

namespace espalier::master {
namespace {

StudyHistory ReadHistory(pqxx::transaction_base& transaction, StudyId study) {
  StudyHistory history;
  const std::string studies = "{" + std::to_string(study.value) + "}";
  EachRow(
      transaction, "trial/load", [&](const RowReader& row) { history.trials.push_back(TrialOf(row)); }, studies);
  EachRow(
      transaction, "claim/load", [&](const RowReader& row) { history.claims.push_back(ClaimOf(row)); }, studies);
  const auto add_event = [&](const RowReader& row) {
    history.events.push_back(EventOf(row));
    history.event_times.push_back(row.Moment("happened_at"));
  };
  EachRow(transaction, "study_event/of_study", add_event, study.value);
  RunReader reader;
  EachRow(
      transaction, "run/of_study", [&](const RowReader& row) { reader.TakeRun(row); }, study.value);
  EachRow(
      transaction, "run_stage/of_study", [&](const RowReader& row) { reader.TakeStage(row); }, study.value);
  EachRow(
      transaction, "run_study/of_study", [&](const RowReader& row) { reader.TakeStudy(row); }, study.value);
  EachRow(
      transaction, "run_promise/of_study", [&](const RowReader& row) { reader.TakePromise(row); }, study.value);
  for (auto& [id, run] : reader.Take()) history.runs.push_back(std::move(run));
  return history;
}

}  // namespace

struct PostgresHistoryStore::Parts {
  LazyConnection connection;
};

PostgresHistoryStore::PostgresHistoryStore(std::string database_url, std::int64_t epoch)
    : parts_(new Parts{LazyConnection(std::move(database_url), epoch)}) {}

PostgresHistoryStore::~PostgresHistoryStore() = default;

Result<StudyHistory> PostgresHistoryStore::Read(StudyId study) {
  return parts_->connection.With([&](Connection& connection) -> Result<StudyHistory> {
    pqxx::transaction<pqxx::repeatable_read> transaction(connection.get());
    return ReadHistory(transaction, study);
  });
}

Result<std::optional<StudyId>> PostgresHistoryStore::StudyOf(TrialId trial) {
  return parts_->connection.With([&](Connection& connection) -> Result<std::optional<StudyId>> {
    pqxx::read_transaction transaction(connection.get());
    const pqxx::result found = Query(transaction, "trial/study", trial.value);
    if (found.empty()) return std::nullopt;
    return StudyId{found.front()["study_id"].as<std::int64_t>()};
  });
}

Result<std::optional<AnsweredRequest>> PostgresHistoryStore::FindRequest(const RequestKey& key) {
  return parts_->connection.With([&](Connection& connection) -> Result<std::optional<AnsweredRequest>> {
    pqxx::read_transaction transaction(connection.get());
    const pqxx::result found = Query(transaction, "request/find", key.first.value, key.second);
    if (found.empty()) return std::nullopt;
    Columns columns;
    return AnswerOf(RowReader(found.front(), columns));
  });
}

Result<std::int64_t> PostgresHistoryStore::ForgetRequests(Time before) {
  return parts_->connection.With([&](Connection& connection) -> Result<std::int64_t> {
    pqxx::work transaction(connection.get());
    const double seconds = Seconds(before.time_since_epoch()).count();
    const pqxx::result deleted = Query(transaction, "request/forget", seconds);
    transaction.commit();
    return static_cast<std::int64_t>(deleted.affected_rows());
  });
}

}  // namespace espalier::master
