#include "scheduler/needed_targets.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "scheduler/nearest_checkpoint.h"

namespace espalier {
namespace {

// The deepest step of a stage of the run's path, up to `limit`, whose state the run can still promise or has promised.
std::optional<Step> DeepestState(const RunView& run, const PathStage& stage, Step limit) {
  if (run.targets.empty()) return std::nullopt;
  const Step deepest = std::min({stage.to, limit, run.targets.back().step});
  if (deepest <= stage.from) return std::nullopt;
  if (run.training && run.at <= deepest) return deepest;
  for (auto target = run.targets.rbegin(); target != run.targets.rend() && target->step > stage.from; ++target) {
    if (target->save && target->step <= deepest) return target->step;
  }
  return std::nullopt;
}

// Where an open lineage leaves a node: for a child, or for good.
struct Leave {
  Step step;
  std::optional<PlanNodeId> child;
  friend auto operator<=>(const Leave&, const Leave&) = default;
};

class Needs {
 public:
  Needs(const SearchPlan& plan, const std::vector<RunView>& runs) : plan_(plan), runs_(runs) {
    for (const RunView& run : runs) {
      for (const PathStage& stage : run.path) passing_[stage.node].push_back({&run, &stage});
      for (const Target& target : run.targets) NotePromise(run, target);
    }
  }

  void Serve(const Claim& claim) {
    if (const auto run = evaluating_.find(claim.point); run != evaluating_.end()) {
      Wanted& wanted = needed_[run->second][claim.point.step];
      wanted.evaluate = true;
      return;
    }
    if (passing_.empty()) return;
    const PlanNode* node = &plan_.Node(claim.point.node);
    Step limit = claim.point.step;
    while (!ServeUnder(*node, limit, claim) && node->parent) {
      limit = node->start;
      node = &plan_.Node(*node->parent);
    }
  }

  // After all claims: marks stand before the end.
  void AddMarks(const std::vector<OpenLineage>& open) {
    const auto leaves = LeavesOf(open);
    for (auto& [run, targets] : needed_) {
      const Step end = targets.rbegin()->first;
      for (std::size_t i = 0; run->training && i < run->path.size(); ++i) {
        const PathStage& stage = run->path[i];
        const auto of_node = leaves.find(stage.node);
        if (of_node == leaves.end()) continue;
        const PathStage* next = i + 1 < run->path.size() ? &run->path[i + 1] : nullptr;
        for (const Leave& leave : of_node->second) {
          if (next != nullptr && (leave.child == next->node || (next->node == stage.node && leave.step > stage.to)))
            continue;
          const Point point{stage.node, std::min(leave.step, stage.to)};
          if (point.step <= stage.from || point.step < run->at || point.step >= end) continue;
          if (!HasCheckpoint(plan_, point)) targets[point.step].save = true;
        }
      }
    }
  }

  // And promised saves of points that are evaluated anyway.
  void KeepSavesUnderWay() {
    for (const RunView& run : runs_) {
      std::map<Step, Wanted>& targets = needed_[&run];
      for (const Target& target : run.targets) {
        if (!target.save || run.path.empty() || HasCheckpoint(plan_, PointOnPath(run, target.step))) continue;
        if (targets.contains(target.step) || IsUnderWay(run, target.step)) targets[target.step].save = true;
      }
    }
  }

  std::map<RunId, std::vector<Target>> Targets() const {
    std::map<RunId, std::vector<Target>> result;
    for (const RunView& run : runs_) result[run.id];
    for (const auto& [run, targets] : needed_) {
      for (const auto& [step, target] : targets) result[run->id].push_back({step, target.evaluate, target.save});
    }
    return result;
  }

 private:
  struct Passing {
    const RunView* run;
    const PathStage* stage;
  };

  // A run without path is there to evaluate, whatever its target says so far.
  void NotePromise(const RunView& run, const Target& target) {
    const bool is_there = !run.training || run.path.empty() || run.at >= target.step;
    if (!is_there || !(target.evaluate || run.path.empty())) return;
    const RunView*& first = evaluating_.try_emplace(PointOnPath(run, target.step), &run).first->second;
    if (run.id < first->id) first = &run;
  }

  bool IsUnderWay(const RunView& run, Step step) const {
    if (!run.training || step < run.at) return true;
    const PointRecord* record = plan_.FindPoint(PointOnPath(run, step));
    return step == run.at && record != nullptr && !record->metrics.empty();
  }

  // Whether the claim is served, by a run or by a checkpoint, from a point of `node` up to `limit`.
  bool ServeUnder(const PlanNode& node, Step limit, const Claim& claim) {
    const RunView* best = nullptr;
    Step deepest = NearestCheckpoint(node, limit).value_or(node.start);
    const bool has_checkpoint = deepest > node.start;
    if (const auto passing = passing_.find(node.id); passing != passing_.end()) {
      for (const Passing& there : passing->second) {
        const std::optional<Step> step = DeepestState(*there.run, *there.stage, limit);
        if (!step || *step < deepest || (*step == deepest && best == nullptr)) continue;
        if (*step == deepest && !GetsThereFirst(*there.run, *best, deepest)) continue;
        best = there.run;
        deepest = *step;
      }
    }
    if (best == nullptr) return has_checkpoint;
    Wanted& wanted = needed_[best][deepest];
    wanted.save = true;
    wanted.evaluate |= claim.point == Point{node.id, deepest} && best->training && best->at <= deepest;
    return true;
  }

  std::unordered_map<PlanNodeId, std::set<Leave>> LeavesOf(const std::vector<OpenLineage>& open) const {
    std::unordered_map<PlanNodeId, std::set<Leave>> leaves;
    std::unordered_set<PlanNodeId> entered;  // nodes whose way from the root is noted
    for (const OpenLineage& lineage : open) {
      const PlanNode* node = &plan_.Node(lineage.leaf);
      while (node->start >= lineage.horizon && node->parent) node = &plan_.Node(*node->parent);
      leaves[node->id].insert({lineage.horizon, std::nullopt});
      while (node->parent && entered.insert(node->id).second) {
        leaves[*node->parent].insert({node->start, node->id});
        node = &plan_.Node(*node->parent);
      }
    }
    return leaves;
  }

  struct BySmallerId {
    bool operator()(const RunView* a, const RunView* b) const { return a->id < b->id; }
  };
  struct Wanted {
    bool evaluate = false;
    bool save = false;
  };

  const SearchPlan& plan_;
  const std::vector<RunView>& runs_;
  std::unordered_map<PlanNodeId, std::vector<Passing>> passing_;
  std::map<Point, const RunView*> evaluating_;  // runs that stand there or have passed, and have promised its metrics
  std::map<const RunView*, std::map<Step, Wanted>, BySmallerId> needed_;
};

}  // namespace

std::map<RunId, std::vector<Target>> NeededTargets(const SearchPlan& plan, const std::vector<RunView>& runs,
                                                   const std::vector<OpenLineage>& open) {
  Needs needs(plan, runs);
  for (const ClaimId claim : plan.waiting) needs.Serve(plan.claims.at(claim));
  needs.AddMarks(open);
  needs.KeepSavesUnderWay();
  return needs.Targets();
}

}  // namespace espalier
