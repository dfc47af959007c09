#include "base/log_line.h"

#include <cstdio>

namespace espalier {

LogField::LogField(std::string_view k, double v) : key(k) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", v);
  value = text;
}

std::string Print(const LogLine& line) {
  std::string text = line.message;
  for (const LogField& field : line.fields) {
    const bool quote = field.value.find(' ') != std::string::npos;
    text += " " + field.key + "=" + (quote ? "\"" + field.value + "\"" : field.value);
  }
  return text;
}

}  // namespace espalier
