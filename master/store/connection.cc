#include "master/store/connection.h"

#include "master/store/embedded_sql.h"

namespace espalier::master {

Connection::Connection(const std::string& url, std::optional<std::int64_t> epoch)
    : connection_(url), quiet_(connection_) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection_.inhibit_reactivation(true);  // gone, with reconnection itself, in libpqxx 7
#pragma GCC diagnostic pop
  pqxx::nontransaction settings(connection_);
  for (const std::string& setting : SessionSettings(epoch)) settings.exec(setting);
  for (const EmbeddedSql& query : EmbeddedQueries())
    connection_.prepare(std::string(query.name), std::string(query.text));
}

std::vector<std::string> SessionSettings(std::optional<std::int64_t> epoch) {
  // Acknowledged means durable, whatever the server's default. Sequential scans are never right for what is written
  // here, but a plan made while a table was small would keep them.
  std::vector<std::string> settings{
      "SET synchronous_commit = on; SET enable_seqscan = off; SET statement_timeout = '60s'; "
      "SET client_encoding = 'UTF8'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET TimeZone = 'UTC'; "
      "SET client_min_messages = 'error'"};
  if (epoch) settings.push_back("SET application_name = 'espalier-master epoch " + std::to_string(*epoch) + "'");
  return settings;
}

tl::unexpected<Error> AnotherLeads(std::int64_t epoch) {
  return MakeError(ErrorCode::kFailedPrecondition,
                   "another master leads: epoch " + std::to_string(epoch) + " is not the database's any more");
}

bool LockLeadership(pqxx::transaction_base& transaction, std::int64_t epoch) {
  return !Query(transaction, "leadership/lock", epoch).empty();
}

}  // namespace espalier::master
