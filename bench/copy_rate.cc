#include "bench/copy_rate.h"

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "bench/database.h"
#include "bench/service.h"

namespace espalier::bench {
namespace {

struct Table {
  const char* name;
  const char* newest;  // its rows of trials past $1, in the order in which they came
};

// What is referred to comes first.
constexpr Table kTables[] = {
    {"configuration",
     "SELECT digest, body FROM configuration JOIN plan_node ON configuration = digest WHERE id > $2 ORDER BY id"},
    {"plan_node", "SELECT * FROM plan_node WHERE id > $2 ORDER BY id"},
    {"trial", "SELECT * FROM trial WHERE id > $1 ORDER BY id"},
    {"claim", "SELECT * FROM claim WHERE trial_id > $1 ORDER BY id"},
    {"study_event", "SELECT * FROM study_event WHERE trial_id > $1 ORDER BY study_id, number"},
    {"request", "SELECT * FROM request WHERE produced_ids[1] > $1 AND study_id > 0 ORDER BY produced_ids[1]"},
};

std::string With(std::string query, const std::string& name, const std::string& value) {
  for (std::size_t at = query.find(name); at != std::string::npos; at = query.find(name)) {
    query.replace(at, name.size(), value);
  }
  return query;
}

}  // namespace

struct NewestRows::Rows {
  std::vector<std::vector<std::string>> batches;  // each with the lines of every table
};

NewestRows::NewestRows(const std::string& database, std::int64_t trial_id, std::int64_t batch_count)
    : rows_(std::make_unique<Rows>()) {
  Database from(database);
  const std::string trial = std::to_string(trial_id);
  // The nodes that were there before: those of older trials, and all that are shared.
  const std::string node = from.CopyOut("SELECT coalesce(max(leaf_id), 0) FROM trial WHERE id <= " + trial).front();
  rows_->batches.assign(static_cast<std::size_t>(batch_count), std::vector<std::string>(std::size(kTables)));
  for (std::size_t table = 0; table < std::size(kTables); ++table) {
    const std::vector<std::string> lines =
        from.CopyOut(With(With(kTables[table].newest, "$1", trial), "$2", node.substr(0, node.size() - 1)));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      rows_->batches[i * static_cast<std::size_t>(batch_count) / lines.size()][table] += lines[i];
    }
  }
}

NewestRows::~NewestRows() = default;

Seconds NewestRows::CopyInto(const std::string& database, std::int64_t first, std::int64_t end) const {
  Database into(database);
  const Seconds begun = MonotonicNow();
  for (std::int64_t i = first; i < end; ++i) {
    const std::vector<std::string>& batch = rows_->batches[static_cast<std::size_t>(i)];
    into.Run("BEGIN");
    for (std::size_t table = 0; table < std::size(kTables); ++table) into.CopyIn(kTables[table].name, batch[table]);
    into.Run("COMMIT");
  }
  return MonotonicNow() - begun;
}

struct BareInserts::Table {
  explicit Table(const std::string& url) : database(url) {
    database.Run("SET synchronous_commit = on");
    database.Run("CREATE TABLE bare (number bigint PRIMARY KEY)");
  }
  Database database;
  std::int64_t next = 0;
};

BareInserts::BareInserts(const std::string& database) : table_(std::make_unique<Table>(database)) {}

BareInserts::~BareInserts() = default;

Seconds BareInserts::Insert() {
  const Seconds begun = MonotonicNow();
  table_->database.Run("INSERT INTO bare VALUES (" + std::to_string(table_->next++) + ")");
  return MonotonicNow() - begun;
}

void CopyDatabase(const std::string& server, const std::string& from, const std::string& to) {
  Database(server).Run("CREATE DATABASE " + to + " TEMPLATE " + from + " STRATEGY FILE_COPY");
}

void DropDatabase(const std::string& server, const std::string& name) {
  Database(server).Run("DROP DATABASE IF EXISTS " + name);
}

}  // namespace espalier::bench
