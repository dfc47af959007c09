// The connection that edits are written by, in one round trip: all statements are sent at once (libpq's pipeline mode,
// which libpqxx does not have), and are one transaction, which the pipeline's end commits; the first that fails ends
// it. Therefore every statement must fail by itself when the database holds other than memory does.
// For the .cc files of this folder only. One thread at a time.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "master/store/row_set.h"

namespace espalier::master {

class WriteConnection {
 public:
  // With the settings and the epoch's name that Connection has. Error: as DatabaseError says.
  static Result<WriteConnection> Open(const std::string& url, std::int64_t epoch);

  // One transaction, all or nothing; tried again if it meets a serialization failure or a deadlock. Blocks for one
  // round trip and one flush to disk, however many sets there are; O(rows) to send. Error: kFailedPrecondition if the
  // epoch is not the database's any more; kAborted if the database held other than the rows expect; else as
  // DatabaseError says. After any error the connection must be dropped.
  Result<void> Write(const std::vector<RowSet>& sets);

 private:
  struct Closer {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  using Handle = std::unique_ptr<PGconn, Closer>;

  WriteConnection(Handle connection, std::int64_t epoch) : connection_(std::move(connection)), epoch_(epoch) {}

  struct Outcome;

  Result<void> Prepare();
  Outcome WriteOnce(const std::vector<RowSet>& sets);
  // Reads the results of all that was sent.
  Outcome Receive();

  Handle connection_;
  std::int64_t epoch_;
};

}  // namespace espalier::master
