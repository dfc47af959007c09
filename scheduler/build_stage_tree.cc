#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "scheduler/nearest_checkpoint.h"
#include "scheduler/stage_tree.h"
#include "searchplan/plan/record_result.h"

namespace espalier {
namespace {

// What runs will store, by where.
struct Promises {
  std::unordered_map<PlanNodeId, std::map<Step, const RunView*>> states;
  std::set<std::pair<Point, std::string>> metrics;  // with their evaluation
};

Promises PromisesOf(const std::vector<RunView>& runs) {
  Promises promises;
  for (const RunView& run : runs) {
    for (const PromisedAt& promise : run.promises) {
      const Point point = PointOnPath(run, promise.step);
      if (promise.owed == Owed::kMetrics) {
        promises.metrics.insert({point, run.evaluation});
        continue;
      }
      const RunView*& first = promises.states[point.node][point.step];
      if (first == nullptr || GetsThereFirst(run, *first, point.step)) first = &run;
    }
  }
  return promises;
}

// Orders points so that those of a parent come before those of its children.
struct StageEnd {
  Step node_start;
  Point point;
  friend auto operator<=>(const StageEnd&, const StageEnd&) = default;
};

class Builder {
 public:
  Builder(const SearchPlan& plan, const std::vector<RunView>& runs) : plan_(plan), promises_(PromisesOf(runs)) {
    tree_.plan = plan.id;
  }

  StageTree Build() {
    for (const ClaimId id : plan_.waiting) {
      const Claim& claim = plan_.claims.at(id);
      const Point point = WaitsAt(plan_, claim);
      if (!promises_.metrics.contains({point, claim.evaluation})) RequireWay(id, point);
    }
    for (const auto& [end, claims] : ends_) AddStage(end.point, claims);
    AddTrials();
    return std::move(tree_);
  }

 private:
  // The checkpoint or promise on the node that is nearest to `limit`, at or before it.
  std::optional<Point> NearestState(const PlanNode& node, Step limit) const {
    std::optional<Step> nearest = NearestCheckpoint(node, limit);
    if (const auto states = promises_.states.find(node.id); states != promises_.states.end()) {
      const auto after = states->second.upper_bound(limit);
      if (after != states->second.begin()) nearest = std::max(nearest, std::optional(std::prev(after)->first));
    }
    if (!nearest) return std::nullopt;
    return Point{node.id, *nearest};
  }

  bool HasState(Point point) const {
    const auto states = promises_.states.find(point.node);
    return plan_.FindCheckpoint(point) != nullptr ||
           (states != promises_.states.end() && states->second.contains(point.step));
  }

  // REQUIRES: HasState(point).
  Source SourceAt(Point point) const {
    if (plan_.FindCheckpoint(point) != nullptr) return FromCheckpoint{point};
    return FromPromise{promises_.states.at(point.node).at(point.step)->id, point};
  }

  // Algorithm 1's FindLatestCheckpoint; `ends_` is its lookup table. Notes where stages must end for the claim's sake:
  // at its point, and where its lineage leaves each node that has to be trained.
  void RequireWay(ClaimId claim, Point point) {
    const PlanNode* node = &plan_.Node(point.node);
    auto [end, is_new] = ends_.try_emplace(StageEnd{node->start, point});
    end->second.push_back(claim);
    while (is_new && !NearestState(*node, point.step) && node->parent) {
      point = {*node->parent, node->start};
      if (HasState(point)) return;
      node = &plan_.Node(point.node);
      is_new = ends_.try_emplace(StageEnd{node->start, point}).second;
    }
  }

  // REQUIRES: all earlier ends are added.
  void AddStage(Point end, const std::vector<ClaimId>& claims) {
    const PlanNode& node = plan_.Node(end.node);
    Stage stage;
    stage.node = end.node;
    stage.to = end.step;
    stage.claims = claims;
    const std::optional<Point> state = NearestState(node, end.step);
    const std::optional<std::size_t> previous = LastTrainedEnd(end.node);
    if (previous && (!state || tree_.stages[*previous].to > state->step)) {
      stage.from = tree_.stages[*previous].to;
      stage.parent = previous;
    } else if (state) {
      stage.from = state->step;
      stage.source = SourceAt(*state);
    } else {
      stage.from = node.start;
      StartAtParent(node, stage);
    }
    if (stage.from == stage.to) return AddEvaluations(stage);
    const std::size_t index = tree_.stages.size();
    if (stage.parent) tree_.stages[*stage.parent].children.push_back(index);
    trained_ends_[end.node][end.step] = index;
    tree_.stages.push_back(std::move(stage));
  }

  // Of the state at the end of `stage`, for its claims: one for each evaluation identity.
  void AddEvaluations(const Stage& stage) {
    std::map<std::string, std::vector<ClaimId>> claims;
    for (const ClaimId claim : stage.claims) claims[plan_.claims.at(claim).evaluation].push_back(claim);
    for (auto& [evaluation, of_evaluation] : claims) {
      if (evaluation == kStateAlone) continue;
      Stage& added = tree_.stages.emplace_back(stage);
      added.evaluation = evaluation;
      added.claims = std::move(of_evaluation);
    }
  }

  void StartAtParent(const PlanNode& node, Stage& stage) const {
    if (!node.parent) return;  // from Init
    const Point start{*node.parent, node.start};
    if (HasState(start)) {
      stage.source = SourceAt(start);
    } else {
      stage.parent = trained_ends_.at(start.node).at(start.step);
    }
  }

  std::optional<std::size_t> LastTrainedEnd(PlanNodeId node) const {
    const auto ends = trained_ends_.find(node);
    if (ends == trained_ends_.end()) return std::nullopt;
    return ends->second.rbegin()->second;
  }

  void AddTrials() {
    for (std::size_t i = tree_.stages.size(); i-- > 0;) {
      Stage& stage = tree_.stages[i];
      for (const ClaimId claim : stage.claims) stage.trials.push_back(plan_.claims.at(claim).trial);
      for (const std::size_t child : stage.children) {
        const std::vector<TrialId>& below = tree_.stages[child].trials;
        stage.trials.insert(stage.trials.end(), below.begin(), below.end());
      }
      std::sort(stage.trials.begin(), stage.trials.end());
      stage.trials.erase(std::unique(stage.trials.begin(), stage.trials.end()), stage.trials.end());
    }
  }

  const SearchPlan& plan_;
  const Promises promises_;
  std::map<StageEnd, std::vector<ClaimId>> ends_;                             // and the claims there
  std::unordered_map<PlanNodeId, std::map<Step, std::size_t>> trained_ends_;  // stages that train, by their end
  StageTree tree_;
};

}  // namespace

StageTree BuildStageTree(const SearchPlan& plan, const std::vector<RunView>& runs) {
  return Builder(plan, runs).Build();
}

}  // namespace espalier
