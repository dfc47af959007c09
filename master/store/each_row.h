// Reads what a query finds in turns, so that memory holds few of its rows at a time, and whoever takes them and the
// database work side by side. For the .cc files of this folder only.
#pragma once

#include <algorithm>
#include <future>
#include <string>
#include <string_view>

#include "base/check.h"
#include "master/store/connection.h"
#include "master/store/embedded_sql.h"
#include "master/store/row_reader.h"

namespace espalier::master {

// Calls `take` with each row of the file `name` of sql/queries. Throws as pqxx does. REQUIRES: `take` reads nothing
// more from the transaction.
template <class Take, class... Values>
void EachRow(pqxx::transaction_base& transaction, std::string_view name, const Take& take, const Values&... values) {
  constexpr pqxx::result::size_type kRowsATurn = 20'000;
  const std::span<const EmbeddedSql> queries = EmbeddedQueries();
  const auto query = std::ranges::find(queries, name, &EmbeddedSql::name);
  ESPALIER_CHECK(query != queries.end()) << "there is no query " << name;
  transaction.exec_params("DECLARE each_row NO SCROLL CURSOR FOR " + std::string(query->text), values...);
  const auto fetch = [&] { return transaction.exec("FETCH FORWARD " + std::to_string(kRowsATurn) + " FROM each_row"); };
  Columns columns;
  for (pqxx::result rows = fetch(); !rows.empty();) {
    // The database finds the next ones meanwhile.
    std::future<pqxx::result> next = std::async(std::launch::async, fetch);
    for (const pqxx::row& row : rows) take(RowReader(row, columns));
    rows = next.get();
  }
  transaction.exec("CLOSE each_row");
}

}  // namespace espalier::master
