// Frames of the trainer protocol: the length of what follows as 4 bytes, the lowest first, then so many bytes.
// Pure. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::worker {

// Of what follows the length: far above any message that makes sense, far below what could fill a memory.
inline constexpr std::size_t kFrameBytesMax = std::size_t{16} << 20;

// Error: kResourceExhausted when it is longer than kFrameBytesMax.
Result<std::string> FrameOf(std::string_view message);

// Takes bytes as they come, and gives messages.
class FrameReader {
 public:
  void Append(std::string_view bytes) { buffer_ += bytes; }

  // The next message that has come whole; nothing if there is none yet. Error: kResourceExhausted when the peer begins
  // one that is longer than kFrameBytesMax, then and ever after.
  Result<std::optional<std::string>> Next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;  // of what was not given yet
};

}  // namespace espalier::worker
