// What PostgreSQL itself can take: the rows that the service stored for its last batches of trials, written by COPY;
// and one row in a transaction of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/units.h"

namespace espalier::bench {

// The rows of the newest trials, as they stand in a database.
class NewestRows {
 public:
  // Of the trials past `trial_id`, with all that came with them, in `batch_count` equal batches.
  NewestRows(const std::string& database, std::int64_t trial_id, std::int64_t batch_count);
  ~NewestRows();

  // Batches `first` to `end` into a database that holds what they refer to, over one connection: each batch one
  // transaction, each table one COPY, indexes and constraints as they are there. How long that took.
  Seconds CopyInto(const std::string& database, std::int64_t first, std::int64_t end) const;

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

// One connection to a database that nobody else writes, with one table.
class BareInserts {
 public:
  explicit BareInserts(const std::string& database);
  ~BareInserts();

  // One row of one number, one transaction: from sending it to the durable answer. No durable write takes less.
  Seconds Insert();

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

// A new database that holds what another does. REQUIRES: nobody is connected to that one. `server`: connection string
// of any other database.
void CopyDatabase(const std::string& server, const std::string& from, const std::string& to);
void DropDatabase(const std::string& server, const std::string& name);

}  // namespace espalier::bench
