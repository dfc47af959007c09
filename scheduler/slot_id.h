// A slot of a server, by name and number. A value.
#pragma once

#include <string>

namespace espalier {

// A place where a run can train.
struct SlotId {
  std::string server;
  int index = 0;
  friend auto operator<=>(const SlotId&, const SlotId&) = default;
};

}  // namespace espalier
