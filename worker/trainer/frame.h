// Frames of the trainer protocol on a socket: a 4-byte little-endian length, then so many bytes.
// Reading and writing may happen on two threads; two writers must take turns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier::trainer {

// Waits for a whole frame. Nothing if the peer closed the socket before or within it. Error: kInternal.
Result<std::optional<std::string>> ReadFrame(int fd);

// Returns once all is handed to the system. Error: kUnavailable when the peer closed the socket, else kInternal.
Result<void> WriteFrame(int fd, std::string_view bytes);

}  // namespace espalier::trainer
