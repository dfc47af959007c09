#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace espalier {
namespace {

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void SetUpLog(std::string_view process, LogLevel lowest) {
  auto logger = spdlog::stderr_logger_mt(std::string(process));
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %n[%P] %l %v");
  logger->set_level(SpdlogLevel(lowest));
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

void Log(const LogLine& line) { spdlog::log(SpdlogLevel(line.level), "{}", Print(line)); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  Log({level, std::string(message), fields});
}

}  // namespace espalier
