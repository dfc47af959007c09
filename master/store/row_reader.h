// Typed access to the columns of a result's row, by name. For the .cc files of this folder only. Throws as pqxx does,
// and std::runtime_error for bytes or texts that no Espalier wrote.
#pragma once

#include <optional>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "base/units.h"

namespace espalier {

class RowReader {
 public:
  explicit RowReader(const pqxx::row& row) : row_(row) {}

  bool IsNull(const char* column) const { return row_[column].is_null(); }
  std::string Text(const char* column) const { return row_[column].as<std::string>(); }
  std::int64_t Integer(const char* column) const { return row_[column].as<std::int64_t>(); }
  bool Flag(const char* column) const { return *row_[column].c_str() == 't'; }
  double Number(const char* column) const;
  Step At(const char* column) const { return Step{Integer(column)}; }
  Time Moment(const char* column) const { return Time{std::chrono::microseconds{Integer(column)}}; }
  std::optional<Time> OptionalMoment(const char* column) const;
  std::string Bytes(const char* column) const;
  Digest128 Digest(const char* column) const;
  std::vector<std::string> Texts(const char* column) const;
  template <class AnyId>
  AnyId Id(const char* column) const {
    return AnyId{Integer(column)};
  }
  // A text by the function that parses it: Parsed("state", ParseRunState).
  template <class Value>
  Value Parsed(const char* column, Result<Value> (*parse)(std::string_view)) const {
    Result<Value> value = parse(Text(column));
    if (!value) throw std::runtime_error(std::string(column) + ": " + value.error().message);
    return *std::move(value);
  }

 private:
  const pqxx::row& row_;
};

}  // namespace espalier
