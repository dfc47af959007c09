// A connection of a bench's own to its service's database. Gives up on every error. One thread.
#pragma once

#include <libpq-fe.h>

#include <string>
#include <vector>

namespace espalier::bench {

class Database {
 public:
  explicit Database(const std::string& url);
  ~Database() { PQfinish(connection_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Run(const std::string& command, ExecStatusType expected = PGRES_COMMAND_OK);
  // The rows of a query, one line each, as COPY writes them: columns apart by tabs.
  std::vector<std::string> CopyOut(const std::string& query);
  void CopyIn(const std::string& table, const std::string& lines);

 private:
  void EndCopy();

  PGconn* connection_;
};

}  // namespace espalier::bench
