// A log line as a value: pure code returns what happened, and whoever acts on it logs it. Prints as `message
// key=value`.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace espalier {

// Who should look: nobody; a reader of the log; soon (an alarm: something is wrong that goes on by itself); now.
enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogField {
  std::string key;
  std::string value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, double v);
  LogField(std::string_view k, std::integral auto v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, Step v) : key(k), value(std::to_string(v.value)) {}
  LogField(std::string_view k, Seconds v) : LogField(k, v.count()) {}
  template <class Tag>
  LogField(std::string_view k, Id<Tag> v) : key(k), value(std::to_string(v.value)) {}
  friend bool operator==(const LogField&, const LogField&) = default;
};

struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string message;
  std::vector<LogField> fields = {};
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// In one line, whatever is in it (VisibleLine); a value is quoted where it has a space or a quote in it.
std::string Print(const LogLine& line);

}  // namespace espalier
