// Rows for one statement, sent to the database at once: each column as one PostgreSQL array literal.
// Pure: knows the text form of values, no connection.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/units.h"

namespace espalier::master {

// Bytes, as opposed to text.
struct Bytes {
  std::string_view value;
};

class RowSet {
 public:
  // `statement` names a file of sql/queries: "claim/settle". It fails when memory and database disagree.
  explicit RowSet(std::string_view statement) : statement_(statement) {}

  // One row, a value for each parameter of the statement. Every row of a set has the same number of values.
  template <class... Values>
  void Add(const Values&... values) {
    columns_.resize(sizeof...(values));
    std::size_t column = 0;
    (AppendTo(columns_[column++], values), ...);
    ++row_count_;
  }

  std::string_view statement() const { return statement_; }
  std::size_t row_count() const { return row_count_; }
  // PostgreSQL has no text with a zero byte in it: a set that was given one must not be sent.
  bool has_zero_byte() const { return has_zero_byte_; }
  // "{1,2,NULL}" for each parameter.
  std::vector<std::string> Parameters() const;

 private:
  void AppendTo(std::string& column, std::int64_t value);
  void AppendTo(std::string& column, int value) { AppendTo(column, std::int64_t{value}); }
  void AppendTo(std::string& column, bool value);
  void AppendTo(std::string& column, double value);
  void AppendTo(std::string& column, std::string_view value);
  void AppendTo(std::string& column, const std::string& value) { AppendTo(column, std::string_view(value)); }
  void AppendTo(std::string& column, const char* value) { AppendTo(column, std::string_view(value)); }
  void AppendTo(std::string& column, Bytes value);
  void AppendTo(std::string& column, const Digest128& value);
  void AppendTo(std::string& column, Step value) { AppendTo(column, value.value); }
  void AppendTo(std::string& column, Seconds value) { AppendTo(column, value.count()); }
  void AppendTo(std::string& column, Time value);
  // Arrays within a row; the statement casts their text.
  template <class Value>
  void AppendTo(std::string& column, const std::vector<Value>& values) {
    std::string array;
    for (const Value& value : values) AppendTo(array, value);
    AppendTo(column, array.empty() ? std::string("{}") : array + "}");
  }
  template <class Tag>
  void AppendTo(std::string& column, Id<Tag> value) {
    AppendTo(column, value.value);
  }
  template <class Value>
  void AppendTo(std::string& column, const std::optional<Value>& value) {
    if (value) {
      AppendTo(column, *value);
    } else {
      Separate(column) += "NULL";
    }
  }
  static std::string& Separate(std::string& column);

  std::string statement_;
  std::vector<std::string> columns_;
  std::size_t row_count_ = 0;
  bool has_zero_byte_ = false;
};

// A map as two arrays of equal length, in the order of its names.
template <class Value>
std::vector<std::string> KeysOf(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}
template <class Value>
std::vector<Value> ValuesOf(const std::map<std::string, Value>& map) {
  std::vector<Value> values;
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

}  // namespace espalier::master
