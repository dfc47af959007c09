#include "master/core/nodes/contests.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "master/core/nodes/checks.h"
#include "master/core/nodes/may_start.h"
#include "master/core/nodes/runs.h"
#include "master/core/state/demand.h"
#include "master/core/state/step_time.h"
#include "master/core/views/running_work.h"
#include "scheduler/cost_features.h"

namespace espalier::master {
namespace {

Seconds TimeLeft(const MasterState& state, const Run& run) {
  const SearchPlan& plan = state.plans.at(run.plan);
  WideCount left = 0;
  for (const StepRange& range : PathRanges(run, run.at(), EndOf(run))) {
    left += WideCount{StepMicroseconds(state, plan, plan.Node(range.node))} * (range.to - range.from);
  }
  return SecondsOfMicroseconds(left);
}

// To store a state of the node, and to begin with another's. `measured_only`: without what was never measured.
Seconds SwitchingTime(const MasterState& state, const SearchPlan& plan, PlanNodeId node_id, bool measured_only) {
  const auto costs = state.costs.find(plan.cost_key);
  if (costs == state.costs.end()) return Seconds(0);
  const PlanNode& node = plan.Node(node_id);
  Seconds time{0};
  for (const CostKind kind : {CostKind::kSave, CostKind::kLoad, CostKind::kSetUp}) {
    if (measured_only && !costs->second.IsMeasured(kind)) continue;
    time += costs->second.Time(kind, FeaturesOf(node), MeasurementOf(node, kind));
  }
  return time;
}

// The longest ways down of paths of one slot that could start if one were idle: at most `most` of them.
std::vector<Seconds> LengthsOfWaiting(const MasterState& state, const std::set<RankedPlan>& plans, Time now,
                                      std::size_t most) {
  std::vector<Seconds> waiting;
  for (const RankedPlan& ranked : plans) {
    const SearchPlan& plan = state.plans.at(ranked.plan);
    if (AwaitsCheck(state, plan)) continue;
    const NeedIndex& needs = state.index.needs.at(plan.id);
    for (const ReadyPath& ready : needs.ready_paths()) {
      for (const auto& [first, totals] : needs.Find(ready.source)->successors) {
        if (waiting.size() == most) return waiting;
        const Pause* pause = LongestPause(state, {{first, ready.source.step}, ""});
        if (pause != nullptr && pause->until > now) continue;
        if (DemandAlong(state, plan, ready.source, first) != Demand{}) continue;
        waiting.push_back(SecondsOfMicroseconds(totals.longest));
      }
    }
  }
  return waiting;
}

std::map<OfferKind, Contest> WithRuns(const MasterState& state) {
  std::map<OfferKind, Contest> contests;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    const SearchPlan& plan = state.plans.at(run.plan);
    const OfferKind kind{plan.trainer, plan.identity.device_kind, ""};
    const bool is_of_one_slot = run.training() && !run.path.empty() && run.slots == 1;
    if (!is_of_one_slot || !state.index.ready_plans.contains(kind) || HasIdleSlot(state, kind)) continue;
    Contest& contest = contests[kind];
    contest.leaving += run.preempt ? 1 : 0;
    if (!CanPreempt(state, run)) continue;
    contest.runs.push_back({id, TimeLeft(state, run)});
    const Seconds switching = SwitchingTime(state, state.plans.at(run.plan), run.path.back().node, false);
    contest.switching = std::max(contest.switching, switching);
  }
  return contests;
}

}  // namespace

Seconds MeasuredSwitchingTime(const MasterState& state, const Run& run) {
  return SwitchingTime(state, state.plans.at(run.plan), run.path.front().node, true);
}

std::vector<Contest> ContestsOf(const MasterState& state, Time now) {
  std::vector<Contest> open;
  for (auto& [kind, contest] : WithRuns(state)) {
    const std::size_t training = contest.runs.size() + contest.leaving;
    contest.waiting = LengthsOfWaiting(state, state.index.ready_plans.at(kind), now, training);
    if (contest.waiting.empty()) continue;
    std::ranges::sort(contest.waiting, std::greater<>());
    std::ranges::sort(contest.runs, {}, [](const Contest::Left& each) { return std::pair(each.left, each.run); });
    open.push_back(std::move(contest));
  }
  return open;
}

}  // namespace espalier::master
