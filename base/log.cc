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

LogField::LogField(std::string_view k, double v) : key(k), value(fmt::format("{:.6g}", v)) {}

void SetUpLog(std::string_view process, LogLevel lowest) {
  auto logger = spdlog::stderr_logger_mt(std::string(process));
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %n[%P] %l %v");
  logger->set_level(SpdlogLevel(lowest));
  logger->flush_on(spdlog::level::debug);
  spdlog::set_default_logger(std::move(logger));
}

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  std::string line(message);
  for (const LogField& field : fields) {
    const bool quote = field.value.find(' ') != std::string::npos;
    line += fmt::format(fmt::runtime(quote ? " {}=\"{}\"" : " {}={}"), field.key, field.value);
  }
  spdlog::log(SpdlogLevel(level), "{}", line);
}

}  // namespace espalier
