#include "master/store/postgres_series_store.h"

#include "master/store/lazy_connection.h"
#include "master/store/row_reader.h"
#include "master/store/row_set.h"

namespace espalier::master {
namespace {

Result<std::vector<StoredSeries>> ReadFrom(Connection& from, const SeriesQuery& query) {
  RowSet rows("training_metric/read");
  for (const StepRange& range : query.lineage) rows.Add(range.node, range.to);
  const std::vector<std::string> arrays = rows.Parameters();
  pqxx::read_transaction transaction(from.get());
  const pqxx::result found =
      Query(transaction, "training_metric/read", arrays.at(0), arrays.at(1), query.after, kSeriesPageSteps);
  std::vector<StoredSeries> series;
  Columns columns;
  for (const pqxx::row& each : found) {
    const RowReader row(each, columns);
    const std::int64_t number = row.Integer("number");
    if (series.empty() || series.back().number != number) series.push_back({number, row.Text("name"), {}, {}});
    series.back().steps.push_back(row.At("step"));
    series.back().values.push_back(row.Number("metric"));
  }
  return series;
}

}  // namespace

struct PostgresSeriesStore::Parts {
  LazyConnection connection;
};

PostgresSeriesStore::PostgresSeriesStore(std::string database_url, std::int64_t epoch)
    : parts_(new Parts{LazyConnection(std::move(database_url), epoch)}) {}

PostgresSeriesStore::~PostgresSeriesStore() = default;

Result<std::vector<StoredSeries>> PostgresSeriesStore::Read(const SeriesQuery& query) {
  if (query.lineage.empty()) return std::vector<StoredSeries>();
  return parts_->connection.With([&](Connection& connection) { return ReadFrom(connection, query); });
}

}  // namespace espalier::master
