#include "scheduler/policies/candidate.h"

#include <algorithm>
#include <utility>

namespace espalier {

std::vector<Action> StartInOrder(const View& view, std::vector<Candidate> candidates) {
  std::vector<Action> actions;
  const std::size_t count = std::min(candidates.size(), view.idle_slots.size());
  for (std::size_t i = 0; i < count; ++i) {
    actions.push_back(StartRun{candidates[i].tree, std::move(candidates[i].stages), view.idle_slots[i]});
  }
  return actions;
}

}  // namespace espalier
