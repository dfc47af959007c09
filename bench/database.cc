#include "bench/database.h"

#include "bench/service.h"

namespace espalier::bench {

Database::Database(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_) != CONNECTION_OK) GiveUp(PQerrorMessage(connection_));
}

void Database::Run(const std::string& command, ExecStatusType expected) {
  PGresult* result = PQexec(connection_, command.c_str());
  if (PQresultStatus(result) != expected) GiveUp(command + ": " + PQerrorMessage(connection_));
  PQclear(result);
}

std::vector<std::string> Database::CopyOut(const std::string& query) {
  Run("COPY (" + query + ") TO STDOUT", PGRES_COPY_OUT);
  std::vector<std::string> lines;
  char* line = nullptr;
  int size = 0;
  while ((size = PQgetCopyData(connection_, &line, 0)) > 0) {
    lines.emplace_back(line, static_cast<std::size_t>(size));
    PQfreemem(line);
  }
  EndCopy();
  return lines;
}

void Database::CopyIn(const std::string& table, const std::string& lines) {
  Run("COPY " + table + " FROM STDIN", PGRES_COPY_IN);
  if (PQputCopyData(connection_, lines.data(), static_cast<int>(lines.size())) != 1 ||
      PQputCopyEnd(connection_, nullptr) != 1) {
    GiveUp(PQerrorMessage(connection_));
  }
  EndCopy();
}

void Database::EndCopy() {
  while (PGresult* result = PQgetResult(connection_)) {
    if (PQresultStatus(result) != PGRES_COMMAND_OK) GiveUp(PQerrorMessage(connection_));
    PQclear(result);
  }
}

}  // namespace espalier::bench
