#include "master/store/postgres_server_log_store.h"

#include "master/store/row_reader.h"

namespace espalier::master {

Result<void> PostgresServerLogStore::Put(const ServerLogPart& part) {
  return connection_.With([&](Connection& to) -> Result<void> {
    pqxx::work transaction(to.get());
    if (!LockLeadership(transaction, epoch_)) return AnotherLeads(epoch_);
    Query(transaction, "server_log/insert", part.server, part.incarnation, part.position, part.text.size(), part.text);
    Query(transaction, "server_log/cut", part.server, kServerLogKeptBytes);
    Query(transaction, "server_log/forget", kServerLogKeptDays);
    transaction.commit();
    return {};
  });
}

Result<std::vector<StoredServerLog>> PostgresServerLogStore::Read(const std::string& server, std::int64_t after) {
  return connection_.With([&](Connection& from) -> Result<std::vector<StoredServerLog>> {
    pqxx::read_transaction transaction(from.get());
    std::vector<StoredServerLog> parts;
    Columns columns;
    for (const pqxx::row& each : Query(transaction, "server_log/read", server, after, kServerLogPageBytes)) {
      const RowReader row(each, columns);
      parts.push_back({.number = row.Integer("number"),
                       .part = {server, row.Text("incarnation"), row.Integer("position"), row.Text("body")}});
    }
    return parts;
  });
}

}  // namespace espalier::master
