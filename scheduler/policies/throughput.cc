#include "scheduler/policies/throughput.h"

#include <algorithm>
#include <utility>

#include "scheduler/policies/candidate.h"

namespace espalier {
namespace {

using Rank = std::pair<std::size_t, std::size_t>;  // stages below, trials

std::vector<Rank> RanksOf(const StageTree& tree) {
  std::vector<Rank> ranks(tree.stages.size());
  for (std::size_t i = tree.stages.size(); i-- > 0;) {
    ranks[i].second = tree.stages[i].trials.size();
    if (const auto parent = tree.stages[i].parent) ranks[*parent].first += 1 + ranks[i].first;
  }
  return ranks;
}

std::vector<std::size_t> PathFrom(const StageTree& tree, const std::vector<Rank>& ranks, std::size_t first) {
  std::vector<std::size_t> path{first};
  while (!tree.stages[path.back()].children.empty()) {
    const std::vector<std::size_t>& children = tree.stages[path.back()].children;
    path.push_back(*std::max_element(children.begin(), children.end(),
                                     [&ranks](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; }));
  }
  return path;
}

}  // namespace

std::vector<Action> ThroughputPolicy::Decide(const View& view, Time) const {
  std::vector<std::pair<Rank, Candidate>> ready;
  for (std::size_t tree = 0; tree < view.trees.size(); ++tree) {
    const StageTree& stage_tree = view.trees[tree].tree;
    const std::vector<Rank> ranks = RanksOf(stage_tree);
    for (std::size_t i = 0; i < stage_tree.stages.size(); ++i) {
      if (IsReady(stage_tree, i)) ready.emplace_back(ranks[i], Candidate{tree, PathFrom(stage_tree, ranks, i)});
    }
  }
  std::stable_sort(ready.begin(), ready.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Candidate> candidates;
  for (auto& [rank, candidate] : ready) candidates.push_back(std::move(candidate));
  return StartInOrder(view, std::move(candidates));
}

}  // namespace espalier
