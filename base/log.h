// Log lines of servers, written to standard error as `message key=value ...`. Any thread may log.
// Pure code does not log: it returns things that can print themselves.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/units.h"

namespace espalier {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, double v);
  LogField(std::string_view k, std::integral auto v) : key(k), value(std::to_string(v)) {}
  LogField(std::string_view k, Step v) : key(k), value(std::to_string(v.value)) {}
  template <class Tag>
  LogField(std::string_view k, Id<Tag> v) : key(k), value(std::to_string(v.value)) {}
};

// Names the process in each line and sets the lowest level shown. Called once, in main.
void SetUpLog(std::string_view process, LogLevel lowest = LogLevel::kInfo);

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

}  // namespace espalier
