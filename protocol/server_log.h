// What a node manager writes into its own log, as it sends it on to the master. Nothing depends on it, and it may be
// lost: what is decided, and whether, never waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier {

// Whole lines, which follow one another.
struct ServerLogPart {
  std::string server;
  std::string incarnation;    // of the node manager that wrote it
  std::int64_t position = 0;  // in all that this one has written, in bytes: what lies between two parts was left out
  std::string text;           // UTF-8, not empty, at most kServerLogPartBytesMax
  friend bool operator==(const ServerLogPart&, const ServerLogPart&) = default;
};

inline constexpr std::size_t kServerLogPartBytesMax = std::size_t{64} << 10;

}  // namespace espalier
