// How a view that would take long looks at the state: in turns, each of which holds the event loop for a few
// milliseconds at most. Between two turns the state changes; nothing that a turn has seen is taken back, since each
// waits until what it saw is durable, and nothing stored that views name is ever deleted but files' names.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

// Calls `look` once with the state, or fails.
using StateReader = std::function<Result<void>(const std::function<void(const MasterState&)>& look)>;

// How many trials or plan nodes are copied in one turn.
inline constexpr std::size_t kCopiedATurn = 500;

}  // namespace espalier::master
