// Writes log lines of servers to standard error. Any thread may log. Pure code does not log: it returns LogLines.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/log_line.h"
#include "base/log_tail.h"

namespace espalier {

// Names the process in each line and sets the lowest level shown. What is shown goes into `tail` too, unless that is
// null; it lives as long as anything logs. Called once, in main.
void SetUpLog(std::string_view process, LogLevel lowest = LogLevel::kInfo, LogTail* tail = nullptr);

void Log(const LogLine& line);
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

}  // namespace espalier
