// What the policies that rank paths have in common: the best ones go to the idle slots.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/action.h"

namespace espalier {

// A path that could be started now.
struct Candidate {
  std::size_t tree = 0;
  std::vector<std::size_t> stages;
};

// One run a slot, in the given order, until slots or candidates are used up.
std::vector<Action> StartInOrder(const View& view, std::vector<Candidate> candidates);

}  // namespace espalier
