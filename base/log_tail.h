// The end of a process's log, for whoever reads it on beside standard error. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace espalier {

class LogTail {
 public:
  // Keeps at most `bytes_max` that nobody has taken: of what is more, the oldest lines are left out.
  explicit LogTail(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  struct Part {
    std::int64_t position = 0;  // in all that was written, in bytes
    std::string text;           // whole lines
    friend bool operator==(const Part&, const Part&) = default;
  };

  // One line, with its end; of one longer than `bytes_max` that much. O(1), amortized.
  void Add(std::string line);

  // The oldest lines that nobody has taken, as many as have `bytes_max` together, one at least: of a longer one its
  // beginning. None: all were taken. O(what it gives back).
  std::optional<Part> Take(std::size_t bytes_max);

 private:
  const std::size_t bytes_max_;
  std::mutex mutex_;
  std::deque<std::string> lines_;  // that nobody has taken
  std::size_t bytes_ = 0;          // of them
  std::int64_t position_ = 0;      // of the first of them
};

}  // namespace espalier
