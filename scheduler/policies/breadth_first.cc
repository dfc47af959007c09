#include "scheduler/policies/breadth_first.h"

#include <algorithm>

#include "scheduler/policies/candidate.h"

namespace espalier {

std::vector<Action> BreadthFirstPolicy::Decide(const View& view, Time) const {
  std::vector<Candidate> candidates;
  for (std::size_t tree = 0; tree < view.trees.size(); ++tree) {
    const StageTree& stage_tree = view.trees[tree].tree;
    for (std::size_t i = 0; i < stage_tree.stages.size(); ++i) {
      if (!IsReady(stage_tree, i)) continue;
      Candidate& candidate = candidates.emplace_back(Candidate{tree, {i}});
      for (const Stage* stage = &stage_tree.stages[i]; !stage->children.empty();) {
        candidate.stages.push_back(stage->children.front());
        stage = &stage_tree.stages[candidate.stages.back()];
      }
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&view](const Candidate& a, const Candidate& b) {
    return view.trees[a.tree].tree.stages[a.stages.front()].from <
           view.trees[b.tree].tree.stages[b.stages.front()].from;
  });
  return StartInOrder(view, std::move(candidates));
}

}  // namespace espalier
