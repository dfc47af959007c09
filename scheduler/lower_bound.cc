#include "scheduler/lower_bound.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"

namespace espalier {

Seconds MakespanLowerBound(const PlannedTree& planned, int slots) {
  ESPALIER_CHECK(slots >= 1) << "a schedule needs a slot";
  const std::vector<Stage>& stages = planned.tree.stages;
  // Between two neighbouring depths where stages start or end, the work deeper than t falls at an even rate; so the
  // maximum is at one of them. Walks them from the deepest up.
  std::vector<Seconds> ends(stages.size());
  std::vector<std::pair<Seconds, int>> changes;  // of the count of stages alive, going up
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Seconds start = stages[i].parent ? ends[*stages[i].parent] : Seconds{0};
    ends[i] = start + planned.stage_times[i];
    changes.emplace_back(ends[i], 1);
    changes.emplace_back(start, -1);
  }
  std::sort(changes.rbegin(), changes.rend());
  Seconds bound{0};
  Seconds work{0};
  int alive = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0) work += (changes[i - 1].first - changes[i].first) * alive;
    alive += changes[i].second;
    bound = std::max(bound, changes[i].first + work / slots);
  }
  return bound;
}

}  // namespace espalier
