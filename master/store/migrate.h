// Brings a database to the schema that this program knows. Forward only; each migration is one transaction.
#pragma once

#include <string>

#include "base/result.h"

namespace espalier::master {

// Applies the migrations that the database lacks; changes nothing where it has them all. Several masters may call it at
// once, and waits for the others. O(migrations), where none is lacking. Error: kFailedPrecondition, saying what to do,
// when the database was made by a newer or another program, or does not keep text as UTF-8; kUnavailable.
Result<void> Migrate(const std::string& database_url);

}  // namespace espalier::master
