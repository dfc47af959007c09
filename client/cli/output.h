// How commands speak: one document on standard output (text for people, JSON, or a graph), progress and messages on
// standard error.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

enum class OutputFormat {
  kText,
  kJson,
  kDot,  // Graphviz's language: `plan show` alone has it
};
std::string_view Name(OutputFormat format);

// A table of text: columns as wide as their widest cell, two spaces between; columns of numbers stand to the right. A
// cell is one line, whatever is in it (VisibleLine).
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  // REQUIRES: as many cells as the header has.
  void AddRow(std::vector<std::string> cells);
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first is the header
};

// For people: 12345 as "12,345"; 0.98312 as "0.9831"; 75.2 seconds as "1 min 15 s"; 123456 bytes as "123.5 kB".
std::string FormatCount(std::int64_t count);
std::string FormatNumber(double value);
std::string FormatDuration(double seconds);
std::string FormatBytes(std::int64_t bytes);

}  // namespace espalier
