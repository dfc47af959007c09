#include "base/log_line.h"

#include <cstdio>

#include "base/text.h"

namespace espalier {
namespace {

// If it could be taken for more than one value.
std::string Quoted(const std::string& value) {
  if (value.find_first_of(" \"") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) quoted += c == '"' ? "\\\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

LogField::LogField(std::string_view k, double v) : key(k) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", v);
  value = text;
}

std::string Print(const LogLine& line) {
  std::string text = VisibleLine(line.message);
  for (const LogField& field : line.fields) text += " " + field.key + "=" + Quoted(VisibleLine(field.value));
  return text;
}

}  // namespace espalier
