#include "client/space/search_space.h"

#include <limits>
#include <set>

namespace espalier {

std::size_t SearchSpace::Count() const {
  std::size_t count = 1;
  for (const auto& [name, values] : lists) {
    if (values.empty()) return 0;
    if (count > std::numeric_limits<std::size_t>::max() / values.size()) return std::numeric_limits<std::size_t>::max();
    count *= values.size();
  }
  return count;
}

std::vector<TrialText> SearchSpace::Grid() const {
  const std::size_t count = Count();
  std::vector<TrialText> trials(count, fixed);
  for (std::size_t trial = 0; trial < count; ++trial) {
    std::size_t rest = trial;
    for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
      trials[trial][list->first] = list->second[rest % list->second.size()];
      rest /= list->second.size();
    }
  }
  if (conditions.empty()) return trials;
  std::set<TrialText> seen;
  std::erase_if(trials, [&](TrialText& trial) {
    Apply(conditions, trial);
    return !seen.insert(trial).second;
  });
  return trials;
}

}  // namespace espalier
