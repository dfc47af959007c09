#include "master/store/migrate.h"

#include <libpq-fe.h>

#include <pqxx/pqxx>
#include <utility>

#include "base/digest.h"
#include "base/log.h"
#include "master/store/connection.h"
#include "master/store/embedded_sql.h"
#include "master/store/pause.h"
#include "master/store/pq_errors.h"

namespace espalier::master {
namespace {

// Any number that nothing else locks: masters that start at once migrate one after the other.
constexpr char kLock[] = "SELECT pg_advisory_xact_lock(7310592840112)";

constexpr std::chrono::milliseconds kTryEvery{500};

constexpr char kCreateHistory[] = R"(
CREATE TABLE IF NOT EXISTS schema_migration (
  version    integer     CONSTRAINT schema_migration_is_applied_once PRIMARY KEY,
  name       text        NOT NULL,
  sha256     text        NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE schema_migration IS 'The migrations that this database has, with the digest of their text.';
)";

// Null when the migration of this version is to be applied. The error says why the database is not ours.
Result<bool> IsApplied(pqxx::work& transaction, int version, const EmbeddedSql& migration) {
  const pqxx::result rows =
      transaction.exec_params("SELECT name, sha256 FROM schema_migration WHERE version = $1", version);
  if (rows.empty()) return false;
  if (rows[0]["sha256"].as<std::string>() != Sha256Hex(migration.text)) {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the database has another migration " + std::to_string(version) + " (" +
                         rows[0]["name"].as<std::string>() +
                         "): it was made by another build of Espalier; use that one, or " + "another database");
  }
  return true;
}

// The version of its schema; 0: it is empty.
Result<int> CheckDatabase(pqxx::work& transaction, int newest) {
  const std::string encoding = transaction.exec1("SHOW server_encoding")[0].as<std::string>();
  if (encoding != "UTF8") {
    return MakeError(ErrorCode::kFailedPrecondition,
                     "the database keeps text as " + encoding + ": create it with ENCODING 'UTF8'");
  }
  const int stored = transaction.exec1("SELECT coalesce(max(version), 0) FROM schema_migration")[0].as<int>();
  if (stored > newest) {
    return MakeError(ErrorCode::kFailedPrecondition, "the database has schema version " + std::to_string(stored) +
                                                         ", this program knows up to " + std::to_string(newest) +
                                                         ": use a newer Espalier");
  }
  return stored;
}

Result<void> RequireLeadership(pqxx::work& transaction, std::optional<std::int64_t> epoch) {
  if (!epoch) return {};
  const pqxx::result held =
      transaction.exec_params("SELECT epoch FROM leadership WHERE epoch = $1 FOR KEY SHARE", *epoch);
  if (held.empty()) return AnotherLeads(*epoch);
  return {};
}

Result<void> MigrateAll(pqxx::connection& connection, std::optional<std::int64_t> epoch) {
  const auto migrations = EmbeddedMigrations();
  bool may_apply = epoch.has_value();
  {
    pqxx::work transaction(connection);
    transaction.exec(kLock);
    transaction.exec(kCreateHistory);
    ESPALIER_ASSIGN(const int stored, CheckDatabase(transaction, static_cast<int>(migrations.size())));
    may_apply |= stored == 0;
    transaction.commit();
  }
  int version = 0;
  for (const EmbeddedSql& migration : migrations) {
    ++version;
    pqxx::work transaction(connection);
    transaction.exec(kLock);
    ESPALIER_RETURN_IF_ERROR(RequireLeadership(transaction, epoch));
    ESPALIER_ASSIGN(const bool applied, IsApplied(transaction, version, migration));
    if (applied || !may_apply) continue;
    transaction.exec(std::string(migration.text));
    transaction.exec_params("INSERT INTO schema_migration (version, name, sha256) VALUES ($1, $2, $3)", version,
                            std::string(migration.name), Sha256Hex(migration.text));
    transaction.commit();
  }
  return {};
}

}  // namespace

Result<void> Migrate(const std::string& database_url, std::optional<std::int64_t> epoch) {
  return WithDatabaseErrors([&]() -> Result<void> {
    pqxx::connection connection(BoundedUrl(database_url));
    const pqxx::quiet_errorhandler quiet(connection);
    pqxx::nontransaction(connection).exec("SET client_min_messages = 'error'");
    return MigrateAll(connection, epoch);
  });
}

Result<void> MigrateOnceThere(const std::string& database_url, const std::stop_token& stop,
                              std::optional<std::int64_t> epoch) {
  bool said = false;
  bool was_there = false;  // it may have come since the attempt: what counts is what it refuses while it is there
  while (!stop.stop_requested()) {
    Result<void> migrated = Migrate(database_url, epoch);
    if (migrated.has_value() || migrated.error().code != ErrorCode::kUnavailable) return migrated;
    const PGPing pinged = PQping(BoundedUrl(database_url).c_str());
    const bool is_there = pinged == PQPING_OK || pinged == PQPING_NO_ATTEMPT;
    if (std::exchange(was_there, is_there) && is_there) return migrated;
    if (!std::exchange(said, true)) {
      Log(LogLevel::kWarning, "waiting for the database", {{"why", migrated.error().message}});
    }
    PauseFor(kTryEvery, stop);
  }
  return MakeError(ErrorCode::kAborted, "stopped while the database was away");
}

}  // namespace espalier::master
