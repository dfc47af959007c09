#include "master/store/row_set.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace espalier::master {
namespace {

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void AppendHex(std::string& out, std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += R"("\\x)";  // within the quotes of an array literal: \x, how PostgreSQL writes bytes
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  out += '"';
}

template <class Number>
void AppendNumber(std::string& out, Number value) {
  char text[40];
  out.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

}  // namespace

std::string& RowSet::Separate(std::string& column) {
  column += column.empty() ? '{' : ',';
  return column;
}

void RowSet::AppendTo(std::string& column, std::int64_t value) { AppendNumber(Separate(column), value); }

void RowSet::AppendTo(std::string& column, bool value) { Separate(column) += value ? 't' : 'f'; }

void RowSet::AppendTo(std::string& column, double value) {
  Separate(column);
  if (std::isnan(value)) {
    column += "NaN";
  } else if (std::isinf(value)) {
    column += value > 0 ? "Infinity" : "-Infinity";
  } else {
    AppendNumber(column, value);  // the shortest form that reads back as the same bits
  }
}

void RowSet::AppendTo(std::string& column, std::string_view value) {
  if (value.find('\0') != std::string_view::npos) has_zero_byte_ = true;
  AppendQuoted(Separate(column), value);
}

void RowSet::AppendTo(std::string& column, Bytes value) { AppendHex(Separate(column), value.value); }

void RowSet::AppendTo(std::string& column, const Digest128& value) {
  AppendTo(column, Bytes{{reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()}});
}

void RowSet::AppendTo(std::string& column, Time value) {
  const auto day = std::chrono::floor<std::chrono::days>(value);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(value - day);
  char text[80];
  std::snprintf(text, sizeof(text), "\"%04d-%02u-%02u %02d:%02d:%02d.%06d+00\"", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
  Separate(column) += text;
}

std::vector<std::string> RowSet::Parameters() const {
  std::vector<std::string> parameters;
  for (const std::string& column : columns_) parameters.push_back(column + "}");
  return parameters;
}

}  // namespace espalier::master
