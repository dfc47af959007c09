#include "client/cli/output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ostream>

#include "base/check.h"
#include "base/text.h"

namespace espalier {
namespace {

// The number of characters that text takes on a screen: bytes that continue a UTF-8 character take none.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool LooksLikeNumber(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789.,-+ e%xnaif") == std::string::npos;
}

std::string Formatted(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string_view Name(OutputFormat format) {
  switch (format) {
    case OutputFormat::kText:
      return "text";
    case OutputFormat::kJson:
      return "json";
    case OutputFormat::kDot:
      return "dot";
  }
  return "";
}

Table::Table(std::vector<std::string> header) : rows_{std::move(header)} {}

void Table::AddRow(std::vector<std::string> cells) {
  ESPALIER_CHECK(cells.size() == rows_.front().size()) << "a row of " << cells.size() << " cells";
  for (std::string& cell : cells) cell = VisibleLine(cell);
  rows_.push_back(std::move(cells));
}

void Table::Print(std::ostream& out) const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::string& cell = rows_[row][column];
      widths[column] = std::max(widths[column], Width(cell));
      if (row > 0 && !LooksLikeNumber(cell)) right[column] = false;
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::string padding(widths[column] - Width(row[column]), ' ');
      if (column > 0) line += "  ";
      line += right[column] ? padding + row[column] : row[column] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string FormatCount(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t digits_from = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > digits_from + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string FormatNumber(double value) {
  if (std::abs(value) >= 1e4 && std::abs(value) < 1e15) return FormatCount(std::llround(value));
  return Formatted("%.4g", value);
}

std::string FormatDuration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 10) return Formatted("%.1f s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string FormatBytes(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {" B", " kB", " MB", " GB", " TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return Formatted(unit == 0 ? "%.0f" : "%.1f", value) + kUnits[unit];
}

}  // namespace espalier
