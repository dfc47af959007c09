#include "master/core/views/lineage_work.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "master/core/state/step_time.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

// The mean of all steps that were trained there, as they were reported: what did happen is not clipped.
Seconds StepTimeOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node) {
  std::int64_t steps = 0;
  Seconds seconds{0};
  for (const TrainedRange& range : node.results->trained) {
    steps += range.to - range.from;
    seconds += range.seconds;
  }
  if (steps > 0) return seconds / static_cast<double>(steps);
  return std::chrono::microseconds(StepMicroseconds(state, plan, node));
}

}  // namespace

PlannedTree WorkOf(const MasterState& state, const std::vector<LineageEnd>& ends, const StepSet& done) {
  struct NodeWork {
    const SearchPlan* plan = nullptr;
    std::set<Step> stage_ends;
  };
  std::map<std::pair<Step, PlanNodeId>, NodeWork> work;  // by the node's start: parents before children
  for (const LineageEnd& end : ends) {
    for (const StepRange& range : LineageRanges(*end.plan, end.leaf, end.step)) {
      NodeWork& node_work = work[{range.from, range.node}];
      node_work.plan = end.plan;
      node_work.stage_ends.insert(range.to);
    }
  }
  PlannedTree planned;
  std::vector<Stage>& stages = planned.tree.stages;
  std::map<Point, std::size_t> stage_by_end;
  for (const auto& [key, node_work] : work) {
    const PlanNode& node = node_work.plan->Node(key.second);
    const Seconds step_time = StepTimeOf(state, *node_work.plan, node);
    std::optional<std::size_t> parent;
    if (node.parent) parent = stage_by_end.at({*node.parent, node.start});
    Step from = node.start;
    for (const Step to : node_work.stage_ends) {
      const std::size_t index = stages.size();
      if (parent) stages[*parent].children.push_back(index);
      stages.push_back({.node = node.id, .from = from, .to = to, .parent = parent});
      const std::int64_t count = (to - from) - done.CountIn({node.id, from, to});
      planned.stage_times.push_back(step_time * static_cast<double>(count));
      stage_by_end[{node.id, to}] = index;
      parent = index;
      from = to;
    }
  }
  return planned;
}

Step TrainableStep(const SearchPlan& plan, const Claim& claim) {
  const Point point = WaitsAt(plan, claim);
  Step step = point.step;
  if (plan.FindMetrics(point, claim.evaluation) != nullptr) return step;
  Step limit = step;  // further up, only what lies before the child counts
  for (std::optional<PlanNodeId> id = point.node; id; id = plan.Node(*id).parent) {
    const std::map<Step, Failure>& failures = plan.Node(*id).results->failures;
    if (!failures.empty() && failures.begin()->first <= limit) step = failures.begin()->first;
    limit = plan.Node(*id).start;
  }
  return step;
}

int SlotCount(const MasterState& state, const Study& study) {
  const Digest128 trainer = TrainerDigest(study.training);
  int count = 0;
  for (const auto& [name, server] : state.servers) {
    if (!server.session || IsDraining(state, server)) continue;
    if (OfferOf(server, trainer, study.device_kind) != nullptr) count += server.slot_count();
  }
  return count;
}

}  // namespace espalier::master
