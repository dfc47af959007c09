// What services share that answer from the state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "master/rpc/master_port.h"

namespace espalier::master {

// What a client asks for as page_size: 1 to 1000; 0 and less: 1000.
inline std::size_t PageSize(std::int32_t asked) {
  constexpr std::int32_t kPageMax = 1000;
  return static_cast<std::size_t>(asked < 1 ? kPageMax : std::min(asked, kPageMax));
}

using Look = std::function<Result<void>(const MasterState& state)>;

// Looks at the state once. Error: when it cannot be read; else `look`'s.
inline Result<void> LookAtState(MasterPort& master, const Look& look) {
  Result<void> seen;
  ESPALIER_RETURN_IF_ERROR(master.Read([&](const MasterState& state) { seen = look(state); }));
  return seen;
}

}  // namespace espalier::master
