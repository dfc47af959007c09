// Typed access to the columns of a result's row, by name. For the .cc files of this folder only. Throws as pqxx does,
// and std::runtime_error for bytes or texts that no Espalier wrote.
#pragma once

#include <algorithm>
#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/units.h"

namespace espalier::master {

// Where the columns of a result's rows are: looking one up by name in each row takes longer than reading it. Names are
// told apart by their addresses.
class Columns {
 public:
  pqxx::row::size_type Of(const pqxx::row& row, const char* name) {
    const auto known = std::find_if(known_.begin(), known_.end(), [&](const auto& each) { return each.first == name; });
    if (known != known_.end()) return known->second;
    return known_.emplace_back(name, row.column_number(name)).second;
  }

 private:
  std::vector<std::pair<const char*, pqxx::row::size_type>> known_;
};

class RowReader {
 public:
  // `columns`: one for all rows of a result.
  RowReader(const pqxx::row& row, Columns& columns) : row_(row), columns_(columns), cell_(row.begin()) {}

  bool IsNull(const char* column) const { return Field(column).is_null(); }
  std::string Text(const char* column) const { return std::string(View(column)); }
  std::int64_t Integer(const char* column) const;
  bool Flag(const char* column) const { return *Field(column).c_str() == 't'; }
  double Number(const char* column) const;
  Step At(const char* column) const { return Step{Integer(column)}; }
  Time Moment(const char* column) const { return Time{std::chrono::microseconds{Integer(column)}}; }
  std::optional<Time> OptionalMoment(const char* column) const;
  std::optional<double> OptionalNumber(const char* column) const;
  std::optional<Seconds> OptionalDuration(const char* column) const;
  std::string Bytes(const char* column) const;
  Digest128 Digest(const char* column) const;
  std::vector<std::string> Texts(const char* column) const;
  std::vector<double> Numbers(const char* column) const;
  template <class AnyId>
  AnyId Id(const char* column) const {
    return AnyId{Integer(column)};
  }
  // A text by the function that parses it: Parsed("state", ParseRunState).
  template <class Value>
  Value Parsed(const char* column, Result<Value> (*parse)(std::string_view)) const {
    Result<Value> value = parse(View(column));
    if (!value) throw std::runtime_error(std::string(column) + ": " + value.error().message);
    return *std::move(value);
  }

 private:
  // The last one is given back until the next call.
  const pqxx::field& Field(const char* column) const {
    using Distance = pqxx::const_row_iterator::difference_type;
    cell_ += static_cast<Distance>(columns_.Of(row_, column)) - static_cast<Distance>(cell_.num());
    return cell_;
  }
  // The text, as long as the result is there. Throws std::runtime_error for NULL.
  std::string_view View(const char* column) const;

  const pqxx::row& row_;
  Columns& columns_;
  mutable pqxx::const_row_iterator cell_;  // moved to each field: to make one copies what holds the result
};

}  // namespace espalier::master
