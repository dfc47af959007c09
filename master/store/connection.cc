#include "master/store/connection.h"

#include <libpq-fe.h>

#include <memory>
#include <set>
#include <utility>

#include "master/store/embedded_sql.h"

namespace espalier::master {

Connection::Connection(const std::string& url, std::optional<std::int64_t> epoch, std::string_view folder)
    : connection_(BoundedUrl(url)), quiet_(connection_) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  connection_.inhibit_reactivation(true);  // gone, with reconnection itself, in libpqxx 7
#pragma GCC diagnostic pop
  pqxx::nontransaction settings(connection_);
  for (const std::string& setting : SessionSettings(epoch)) settings.exec(setting);
  for (const EmbeddedSql& query : EmbeddedQueries()) {
    if (query.name.starts_with(folder)) connection_.prepare(std::string(query.name), std::string(query.text));
  }
}

std::string BoundedUrl(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(PQconninfoParse(url.c_str(), nullptr),
                                                                               PQconninfoFree);
  if (options == nullptr) return url;  // it makes no sense, which connecting says
  std::set<std::string> given;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) given.insert(option->keyword);
  }
  const bool is_uri = url.starts_with("postgresql://") || url.starts_with("postgres://");
  std::string bounded = url;
  for (const auto& [keyword, value] :
       {std::pair("connect_timeout", "3"), std::pair("tcp_user_timeout", "3000"), std::pair("keepalives_idle", "1"),
        std::pair("keepalives_interval", "1"), std::pair("keepalives_count", "2")}) {
    if (given.contains(keyword)) continue;
    const char* const before = !is_uri ? " " : bounded.find('?') == std::string::npos ? "?" : "&";
    bounded += std::string(before) + keyword + "=" + value;
  }
  return bounded;
}

std::vector<std::string> SessionSettings(std::optional<std::int64_t> epoch) {
  // Acknowledged means durable, whatever the server's default. Sequential scans are never right for what is written
  // here, but a plan made while a table was small would keep them. Where a table has no other way it is taken for so
  // dear then that its statement would be compiled, for a tenth of a second.
  std::vector<std::string> settings{
      "SET synchronous_commit = on; SET enable_seqscan = off; SET jit = off; SET statement_timeout = '60s'; "
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
