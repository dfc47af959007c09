#include "master/store/row_reader.h"

#include <charconv>

namespace espalier::master {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::runtime_error("bytes are not in hexadecimal form");
}

template <class Number>
Number NumberOf(std::string_view text, const char* column) {
  Number value{};
  if (std::from_chars(text.data(), text.data() + text.size(), value).ptr != text.data() + text.size()) {
    throw std::runtime_error(std::string(column) + ": '" + std::string(text) + "' is no number");
  }
  return value;
}

}  // namespace

std::string_view RowReader::View(const char* column) const {
  const pqxx::field& field = Field(column);
  if (field.is_null()) throw std::runtime_error(std::string(column) + " is NULL");
  return {field.c_str(), field.size()};
}

std::int64_t RowReader::Integer(const char* column) const { return NumberOf<std::int64_t>(View(column), column); }

double RowReader::Number(const char* column) const { return NumberOf<double>(View(column), column); }

std::optional<Time> RowReader::OptionalMoment(const char* column) const {
  if (IsNull(column)) return std::nullopt;
  return Moment(column);
}

std::optional<double> RowReader::OptionalNumber(const char* column) const {
  return IsNull(column) ? std::nullopt : std::optional(Number(column));
}

std::optional<Seconds> RowReader::OptionalDuration(const char* column) const {
  if (IsNull(column)) return std::nullopt;
  return Seconds(Number(column));
}

std::string RowReader::Bytes(const char* column) const {
  const std::string_view text = View(column);
  if (!text.starts_with("\\x") || text.size() % 2 != 0) throw std::runtime_error("bytes are not in hexadecimal form");
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 2; i < text.size(); i += 2) {
    bytes += static_cast<char>(HexDigit(text[i]) * 16 + HexDigit(text[i + 1]));
  }
  return bytes;
}

Digest128 RowReader::Digest(const char* column) const {
  const std::string bytes = Bytes(column);
  Digest128 digest;
  if (bytes.size() != digest.bytes.size()) throw std::runtime_error(std::string(column) + ": a digest has 16 bytes");
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

std::vector<std::string> RowReader::Texts(const char* column) const {
  std::vector<std::string> texts;
  pqxx::array_parser parser = Field(column).as_array();
  for (auto [juncture, text] = parser.get_next(); juncture != pqxx::array_parser::done;
       std::tie(juncture, text) = parser.get_next()) {
    if (juncture == pqxx::array_parser::string_value) texts.push_back(text);
  }
  return texts;
}

std::vector<double> RowReader::Numbers(const char* column) const {
  std::vector<double> numbers;
  for (const std::string& text : Texts(column)) numbers.push_back(NumberOf<double>(text, column));
  return numbers;
}

}  // namespace espalier::master
