#include "base/log.h"

#include <spdlog/sinks/base_sink.h>
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

class TailSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit TailSink(LogTail& tail) : tail_(tail) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    tail_.Add(std::string(line.data(), line.size()));
  }
  void flush_() override {}

  LogTail& tail_;
};

}  // namespace

void SetUpLog(std::string_view process, LogLevel lowest, LogTail* tail) {
  auto logger = spdlog::stderr_logger_mt(std::string(process));
  if (tail != nullptr) logger->sinks().push_back(std::make_shared<TailSink>(*tail));
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
