// Numbers by the values of hyper-parameters: a table in CSV, whose head names the columns. A row says what the numbers
// are where the hyper-parameters have those values; other columns, and hyper-parameters without one, make no
// difference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "searchplan/sequence/value.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

// One that the table must have.
struct NumberColumn {
  std::string name;
  std::optional<std::pair<double, double>> range = {};  // the least and the most; none: any, NaN too
};

class ValueTable {
 public:
  // `types`: of the hyper-parameters. `by_step`: there is a column `step`, whole numbers of at least 0, and a row for
  // each step. Error: kInvalidArgument, naming the row (the head is 1) or the column: no such column, a cell that is no
  // value of the column's type or out of its range, two rows for one place.
  static Result<ValueTable> Parse(std::string_view csv, const std::vector<NumberColumn>& numbers,
                                  const ValueTypes& types, bool by_step);

  // Whether the table has such a column; false of what is no table.
  static bool HasColumn(std::string_view csv, const std::string& name);

  // In the order of the columns asked for; a value that is missing is neutral. Null: there is no such row. O(log rows).
  const std::vector<double>* Find(const worker::Values& values, Step step = Step{0}) const;

  // The values that a row is looked for by: "with lr=0.1 bs=64"; empty if none is.
  std::string Named(const worker::Values& values) const;

  // Those of each row.
  template <class Take>
  void Each(const Take& take) const {
    for (const auto& [place, numbers] : rows_) take(numbers);
  }

 private:
  using Place = std::pair<std::vector<Value>, Step>;

  std::vector<std::pair<std::string, ValueType>> columns_;  // those that are hyper-parameters
  std::map<Place, std::vector<double>> rows_;
};

}  // namespace espalier::sim
