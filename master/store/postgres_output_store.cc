#include "master/store/postgres_output_store.h"

#include "master/store/lazy_connection.h"
#include "master/store/row_reader.h"
#include "master/store/row_set.h"

namespace espalier::master {
namespace {

// The parameters of run_output/insert that are arrays.
std::vector<std::string> ArraysOf(const std::vector<OutputPiece>& pieces) {
  RowSet rows("run_output/insert");
  for (const OutputPiece& piece : pieces) {
    rows.Add(piece.position, piece.step, static_cast<std::int64_t>(piece.text.size()), piece.text);
  }
  return rows.Parameters();
}

std::vector<std::string> ArraysOf(const std::vector<StepRange>& lineage) {
  RowSet rows("run_output/read");
  for (const StepRange& range : lineage) rows.Add(range.node, range.to);
  return rows.Parameters();
}

std::int64_t Sum(const pqxx::result& result, const char* column) { return result.front()[column].as<std::int64_t>(); }

}  // namespace

struct PostgresOutputStore::Parts {
  Result<void> Put(Connection& to, const RunOutput& output) {
    pqxx::work transaction(to.get());
    if (!LockLeadership(transaction, epoch)) return AnotherLeads(epoch);
    if (!total_bytes) total_bytes = Sum(Query(transaction, "run_output/total"), "total_bytes");
    const std::vector<std::string> arrays = ArraysOf(output.pieces);
    const pqxx::result stored =
        Query(transaction, "run_output/insert", output.run.run.value, output.run.leadership.value, output.incarnation,
              arrays.at(0), arrays.at(1), arrays.at(2), arrays.at(3));
    if (Sum(stored, "runs") == 0) return MakeError(ErrorCode::kNotFound, "no such node manager was given the run");
    std::int64_t total = *total_bytes + Sum(stored, "stored_bytes");
    total -= Sum(Query(transaction, "run_output/cut", output.run.run.value, kOutputFirstBytes, kOutputLastBytes),
                 "cut_bytes");
    if (total > bytes_max) {
      Query(transaction, "run_output/forget", bytes_max / 10 * 9);
      total = Sum(Query(transaction, "run_output/total"), "total_bytes");
    }
    transaction.commit();
    total_bytes = total;
    return {};
  }

  static Result<std::vector<StoredOutput>> Read(Connection& from, const OutputQuery& query) {
    pqxx::read_transaction transaction(from.get());
    const std::vector<std::string> arrays = ArraysOf(query.lineage);
    const pqxx::result found =
        Query(transaction, "run_output/read", arrays.at(0), arrays.at(1), query.team, query.after, kOutputPageBytes);
    std::vector<StoredOutput> outputs;
    Columns columns;
    for (const pqxx::row& each : found) {
      const RowReader row(each, columns);
      outputs.push_back({.number = row.Integer("number"),
                         .run = row.Id<RunId>("run_id"),
                         .slot = {row.Text("server"), static_cast<int>(row.Integer("slot"))},
                         .piece = {row.At("step"), row.Integer("position"), row.Text("body")}});
    }
    return outputs;
  }

  const std::int64_t epoch;
  const std::int64_t bytes_max;
  LazyConnection connection;
  std::optional<std::int64_t> total_bytes;  // of all that is stored; none: not looked at
};

PostgresOutputStore::PostgresOutputStore(std::string database_url, std::int64_t epoch, std::int64_t bytes_max)
    : parts_(new Parts{.epoch = epoch,
                       .bytes_max = bytes_max,
                       .connection = LazyConnection(std::move(database_url), epoch),
                       .total_bytes = {}}) {}

PostgresOutputStore::~PostgresOutputStore() = default;

Result<void> PostgresOutputStore::Put(const RunOutput& output) {
  return parts_->connection.With([&](Connection& connection) { return parts_->Put(connection, output); });
}

Result<std::vector<StoredOutput>> PostgresOutputStore::Read(const OutputQuery& query) {
  if (query.lineage.empty()) return std::vector<StoredOutput>();
  return parts_->connection.With([&](Connection& connection) { return Parts::Read(connection, query); });
}

}  // namespace espalier::master
