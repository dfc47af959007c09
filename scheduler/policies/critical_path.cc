#include "scheduler/policies/critical_path.h"

#include <algorithm>

#include "scheduler/critical_path.h"
#include "scheduler/policies/candidate.h"

namespace espalier {

std::vector<Action> CriticalPathPolicy::Decide(const View& view, Time) const {
  struct Timed {
    Seconds time;
    Candidate candidate;
  };
  std::vector<Timed> ready;
  for (std::size_t tree = 0; tree < view.trees.size(); ++tree) {
    for (StagePath& path : DecomposeByLongestPath(view.trees[tree])) {
      if (!IsReady(view.trees[tree].tree, path.stages.front())) continue;
      ready.push_back({path.time, {tree, std::move(path.stages)}});
    }
  }
  std::stable_sort(ready.begin(), ready.end(), [](const Timed& a, const Timed& b) { return a.time > b.time; });
  std::vector<Candidate> candidates;
  for (Timed& timed : ready) candidates.push_back(std::move(timed.candidate));
  return StartInOrder(view, std::move(candidates));
}

}  // namespace espalier
