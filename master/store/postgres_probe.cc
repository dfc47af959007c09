#include "master/store/postgres_probe.h"

#include "base/clock.h"
#include "master/store/row_reader.h"

namespace espalier::master {

Result<DatabaseStanding> PostgresProbe::Ask() {
  return connection_.With([](Connection& from) -> Result<DatabaseStanding> {
    const Seconds begun = MonotonicNow();
    pqxx::read_transaction transaction(from.get());
    const pqxx::result rows = Query(transaction, "database/size");
    Columns columns;
    const std::int64_t bytes = RowReader(rows.at(0), columns).Integer("bytes");
    return DatabaseStanding{.answered_within = MonotonicNow() - begun, .bytes = bytes};
  });
}

}  // namespace espalier::master
