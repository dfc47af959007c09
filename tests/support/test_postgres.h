// A PostgreSQL cluster of the test's own, in a new folder, on a Unix socket; stopped and removed when it is destroyed.
// If the test is killed the server notices and stops by itself. Owned by one thread.
#pragma once

#include <sys/types.h>

#include <string>

namespace espalier {

class TestPostgres {
 public:
  // Starts it and waits until it answers; stops the process, with the server's log, if it cannot. Commits are durable:
  // fsync is on.
  TestPostgres();
  ~TestPostgres();
  TestPostgres(const TestPostgres&) = delete;
  TestPostgres& operator=(const TestPostgres&) = delete;

  // The connection string of a new, empty database. `encoding`: as CREATE DATABASE takes it.
  std::string NewDatabase(const std::string& encoding = "UTF8");

  // Runs one command in the database, and returns the first column of its first row.
  std::string Run(const std::string& database_url, const std::string& command);

  // Ends every connection to the database.
  void CutConnections(const std::string& database_url);

  // Kills the server as a crash of its process would, and starts it again, from here on without fsync: the machine is
  // up, and recovery would first wait for whatever else this machine writes, for minutes where the disk is busy.
  void Crash();

  pid_t server() const { return server_; }

 private:
  void Start(bool synced);
  void Stop(int signal);

  std::string folder_;
  pid_t server_ = 0;
  pid_t guard_ = 0;  // removes the folder and ends the server if this process is gone
  int guard_pipe_ = -1;
  int database_count_ = 0;
};

}  // namespace espalier
