// Brings a database to the schema that this program knows. Forward only; each migration is one transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace espalier::master {

// Applies the migrations that the database lacks; changes nothing where it has them all. Without an epoch only to an
// empty database: where there is a schema somebody may lead by it, and it is only looked at. With one, that of this
// master, each in a transaction of the epoch. Several masters may call it at once, and wait for each other.
// O(migrations), where none is lacking. Error: kFailedPrecondition, saying what to do, when the database was made by a
// newer or another program, or does not keep text as UTF-8, or when another master leads; kUnavailable.
Result<void> Migrate(const std::string& database_url, std::optional<std::int64_t> epoch = std::nullopt);

// The same, once the database is there: while nobody answers at its address, or it starts or stops, it waits. Error: as
// above, kUnavailable too where the database is there and cannot be used; kAborted when `stop` is requested meanwhile.
Result<void> MigrateOnceThere(const std::string& database_url, const std::stop_token& stop,
                              std::optional<std::int64_t> epoch = std::nullopt);

}  // namespace espalier::master
