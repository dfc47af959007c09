// What a policy may order.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/view.h"

namespace espalier {

// Train these stages of a tree back to back on a slot, as one run. The first is ready; each next is a child of the one
// before.
struct StartRun {
  std::size_t tree = 0;  // index into View::trees
  std::vector<std::size_t> stages;
  SlotId slot;
  friend bool operator==(const StartRun&, const StartRun&) = default;
};

// Save at the next step's end and free the slot.
struct PreemptRun {
  RunId run;
  friend bool operator==(const PreemptRun&, const PreemptRun&) = default;
};

using Action = std::variant<StartRun, PreemptRun>;

std::string Print(const Action& action);

}  // namespace espalier
