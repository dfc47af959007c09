#include "scheduler/needed_promises.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "scheduler/nearest_checkpoint.h"
#include "searchplan/plan/record_result.h"

namespace espalier {
namespace {

// Where an open lineage wants a state on a node: where it leaves it for a child, or ends.
struct Leave {
  Step step;
  std::optional<PlanNodeId> child;
  friend auto operator<=>(const Leave&, const Leave&) = default;
};

class Needs {
 public:
  Needs(const SearchPlan& plan, const std::vector<RunView>& runs) : plan_(plan), runs_(runs) {
    for (const RunView& run : runs) {
      needed_[run.id];
      if (run.training && !run.promises.empty()) {
        for (const PathStage& stage : run.path) passing_[stage.node].push_back({&run, &stage});
      }
      for (const PromisedAt& promise : run.promises) Enter(run, promise);
    }
  }

  void Serve(const Claim& claim) {
    const auto promised = metrics_.find({claim.point, claim.evaluation});
    if (promised != metrics_.end()) return UseMetrics(*promised->second, claim);
    const PlanNode* node = &plan_.Node(claim.point.node);
    Step limit = claim.point.step;
    while (!ServeUnder(*node, limit, claim) && node->parent) {
      limit = node->start;
      node = &plan_.Node(*node->parent);
    }
  }

  void KeepWhatStays() {
    for (const RunView& run : runs_) {
      for (const PromisedAt& promise : run.promises) {
        const bool on_its_way = promise.owed == Owed::kState && promise.step <= run.at;
        if (!run.training || on_its_way) Use(run, promise);
      }
    }
  }

  // After all else has been used: these stand before the end.
  void WantStatesOf(const std::vector<OpenLineage>& open) {
    const auto leaves = LeavesOf(open);
    for (const RunView& run : runs_) {
      const std::set<PromisedAt>& promises = needed_[run.id].promises;
      if (promises.empty() || !run.training) continue;
      const Step end = promises.rbegin()->step;
      for (std::size_t i = 0; i < run.path.size(); ++i) {
        const PathStage* next = i + 1 < run.path.size() ? &run.path[i + 1] : nullptr;
        const auto of_node = leaves.find(run.path[i].node);
        if (of_node == leaves.end()) continue;
        for (const Leave& leave : of_node->second) {
          const std::optional<Step> step = StepOfLeave(run.path[i], next, leave);
          if (step && run.at <= *step && *step < end) Want(run, {run.path[i].node, *step});
        }
      }
    }
  }

  void UseWantedStates() {
    for (const auto& [point, run] : wanted_) {
      if (!used_states_.contains(point)) Use(*run, {point.step, Owed::kState});
    }
  }

  std::map<RunId, Needed> Take() { return std::move(needed_); }

 private:
  struct Passing {
    const RunView* run;
    const PathStage* stage;
  };
  // The best way to serve a claim from a point of one node.
  struct Service {
    Step step;
    const RunView* run = nullptr;  // null: the checkpoint there
    bool standing = true;          // of a run: promised already
  };

  void Enter(const RunView& run, const PromisedAt& promise) {
    const Point point = PointOnPath(run, promise.step);
    const RunView*& first =
        promise.owed == Owed::kMetrics ? metrics_[{point, run.evaluation}] : states_[point.node][point.step];
    if (first == nullptr || GetsThereFirst(run, *first, promise.step)) first = &run;
  }

  void Use(const RunView& run, PromisedAt promise) {
    needed_[run.id].promises.insert(promise);
    if (promise.owed == Owed::kState) used_states_.insert(PointOnPath(run, promise.step));
  }

  static bool HasPromised(const RunView& run, PromisedAt promise) {
    return std::binary_search(run.promises.begin(), run.promises.end(), promise);
  }

  // Of two runs that could keep a state: one that has promised it, so that promises do not move to and fro while both
  // train, then the one expected there first.
  static bool Suits(const RunView& a, const RunView& b, Step step) {
    const bool a_promised = HasPromised(a, {step, Owed::kState});
    const bool b_promised = HasPromised(b, {step, Owed::kState});
    return a_promised != b_promised ? a_promised : GetsThereFirst(a, b, step);
  }

  // That the run keeps the state of the point, if nobody keeps it for another reason.
  void Want(const RunView& run, Point point) {
    if (plan_.FindCheckpoint(point) != nullptr) return;
    const RunView*& chosen = wanted_[point];
    if (chosen == nullptr || Suits(run, *chosen, point.step)) chosen = &run;
  }

  void UseMetrics(const RunView& run, const Claim& claim) {
    Use(run, {claim.point.step, Owed::kMetrics});
    needed_[run.id].serves.insert(claim.id);
    const PromisedAt state{claim.point.step, Owed::kState};
    if (plan_.FindCheckpoint(claim.point) != nullptr) return;
    if (HasPromised(run, state)) return Use(run, state);
    if (run.training && !run.path.empty() && run.at <= claim.point.step) Want(run, claim.point);
  }

  // Whether the claim is served from a point of `node` up to `limit`.
  bool ServeUnder(const PlanNode& node, Step limit, const Claim& claim) {
    const std::optional<Service> service = BestUnder(node, limit);
    if (!service) return false;
    if (service->run == nullptr) return true;
    const RunView& run = *service->run;
    Use(run, {service->step, Owed::kState});
    needed_[run.id].serves.insert(claim.id);
    const bool measures = run.training && run.at <= service->step && run.evaluation == claim.evaluation;
    if (measures && claim.point == Point{node.id, service->step}) Use(run, {service->step, Owed::kMetrics});
    return true;
  }

  std::optional<Service> BestUnder(const PlanNode& node, Step limit) const {
    std::optional<Service> best;
    if (const auto checkpoint = NearestCheckpoint(node, limit)) best = Service{*checkpoint};
    if (const auto states = states_.find(node.id); states != states_.end()) {
      const auto after = states->second.upper_bound(limit);
      if (after != states->second.begin()) {
        const auto& [step, run] = *std::prev(after);
        if (!best || step > best->step) best = Service{step, run};
      }
    }
    const auto passing = passing_.find(node.id);
    if (passing == passing_.end()) return best;
    for (const Passing& there : passing->second) {
      const Step step = std::min({there.stage->to, limit, EndOf(*there.run)});
      if (step <= there.stage->from || step < there.run->at) continue;
      const bool deeper = !best || step > best->step;
      const bool earlier =
          best && step == best->step && !best->standing && GetsThereFirst(*there.run, *best->run, step);
      if (deeper || earlier) best = Service{step, there.run, false};
    }
    return best;
  }

  static Step EndOf(const RunView& run) { return run.promises.back().step; }

  // Where on this stage the lineage wants a state; nothing if it goes on along the path.
  static std::optional<Step> StepOfLeave(const PathStage& stage, const PathStage* next, const Leave& leave) {
    const bool goes_on =
        next != nullptr && (leave.child == next->node || (next->node == stage.node && leave.step > stage.to));
    const Step step = std::min(leave.step, stage.to);
    if (goes_on || step <= stage.from) return std::nullopt;
    return step;
  }

  std::unordered_map<PlanNodeId, std::set<Leave>> LeavesOf(const std::vector<OpenLineage>& open) const {
    std::unordered_map<PlanNodeId, std::set<Leave>> leaves;
    std::unordered_set<PlanNodeId> entered;  // nodes whose way from the root is noted
    for (const OpenLineage& lineage : open) {
      if (lineage.last_claim > Step{0}) {
        const Point last = PointOn(plan_, lineage.leaf, lineage.last_claim);
        leaves[last.node].insert({last.step, std::nullopt});
      }
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

  const SearchPlan& plan_;
  const std::vector<RunView>& runs_;
  std::unordered_map<PlanNodeId, std::vector<Passing>> passing_;
  std::map<std::pair<Point, std::string>, const RunView*> metrics_;        // promised, by evaluation
  std::unordered_map<PlanNodeId, std::map<Step, const RunView*>> states_;  // promised
  std::map<Point, const RunView*> wanted_;                                 // states, and who should keep them
  std::unordered_set<Point> used_states_;
  std::map<RunId, Needed> needed_;
};

}  // namespace

std::map<RunId, Needed> NeededPromises(const SearchPlan& plan, const std::vector<RunView>& runs,
                                       const std::vector<OpenLineage>& open) {
  Needs needs(plan, runs);
  for (const ClaimId id : plan.waiting) {
    Claim claim = plan.claims.at(id);
    claim.point = WaitsAt(plan, claim);
    needs.Serve(claim);
  }
  needs.KeepWhatStays();
  needs.WantStatesOf(open);
  needs.UseWantedStates();
  return needs.Take();
}

}  // namespace espalier
