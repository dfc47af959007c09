// A connection to the database as every part of this folder uses it. For the .cc files of this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace espalier::master {

// Never reconnects by itself: a new connection would not know that it lost a transaction. With `epoch` it bears the
// name by which a takeover finds and ends it. Every file of sql/queries can be run by its name: connecting prepares
// them, or those below one folder, one round trip each. Throws as pqxx does.
class Connection {
 public:
  Connection(const std::string& url, std::optional<std::int64_t> epoch, std::string_view folder = {});

  pqxx::connection& get() { return connection_; }

 private:
  pqxx::connection connection_;
  pqxx::quiet_errorhandler quiet_;  // errors are returned, not printed
};

// The connection string, with bounds of what it does not bound itself: to connect 3 s, to be acknowledged by the other
// machine's system 3 s, and as long until one that says nothing is found to be gone.
std::string BoundedUrl(const std::string& url);

// The commands that make a new connection ready: durable commits, formats, limits, and the epoch's name.
std::vector<std::string> SessionSettings(std::optional<std::int64_t> epoch);

tl::unexpected<Error> AnotherLeads(std::int64_t epoch);

// Runs a file of sql/queries.
template <class... Values>
pqxx::result Query(pqxx::transaction_base& transaction, std::string_view name, const Values&... values) {
  return transaction.exec_prepared(std::string(name), values...);
}

// False when another master leads: its epoch is not the stored one. Holds off a takeover until the transaction ends.
bool LockLeadership(pqxx::transaction_base& transaction, std::int64_t epoch);

}  // namespace espalier::master
