#include "base/log_tail.h"

namespace espalier {

void LogTail::Add(std::string line) {
  const std::lock_guard lock(mutex_);
  if (line.size() > bytes_max_) line.resize(bytes_max_);
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  while (bytes_ > bytes_max_) {
    position_ += static_cast<std::int64_t>(lines_.front().size());
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
}

std::optional<LogTail::Part> LogTail::Take(std::size_t bytes_max) {
  const std::lock_guard lock(mutex_);
  if (lines_.empty()) return std::nullopt;
  Part part{.position = position_, .text = {}};
  while (!lines_.empty() && (part.text.empty() || part.text.size() + lines_.front().size() <= bytes_max)) {
    position_ += static_cast<std::int64_t>(lines_.front().size());
    bytes_ -= lines_.front().size();
    part.text += lines_.front();
    lines_.pop_front();
  }
  if (part.text.size() > bytes_max) part.text.resize(bytes_max);
  return part;
}

}  // namespace espalier
