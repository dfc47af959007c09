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
#include "master/core/state/usage.h"
#include "master/core/views/running_work.h"
#include "scheduler/cost_features.h"

namespace espalier::master {
namespace {

// Of what the run has still to train, and of what waits for the states that it has promised: the longest way down,
// estimated. O(open promises x path).
Seconds WayDown(const MasterState& state, const Run& run) {
  const SearchPlan& plan = state.plans.at(run.plan);
  const NeedIndex& needs = state.index.needs.at(plan.id);
  const auto way_by = [&](Step to) {
    WideCount time = 0;
    for (const StepRange& range : PathRanges(run, run.at(), to)) {
      time += WideCount{StepMicroseconds(state, plan, plan.Node(range.node))} * (range.to - range.from);
    }
    const Place* place = needs.Find(PointOf(run, to));
    return place == nullptr ? time : time + place->below.longest;
  };
  WideCount longest = way_by(EndOf(run));
  for (const auto& [owed, promise] : run.open) {
    if (owed.second == Owed::kState) longest = std::max(longest, way_by(owed.first));
  }
  return SecondsOfMicroseconds(longest);
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

OfferKind KindOf(const SearchPlan& plan) { return {plan.trainer, plan.identity.device_kind, ""}; }

// The study whose paths of that kind wait, if no other one's do: of several, fair share says whose turn it is.
// O(studies for which something can be started, and of each its plans of other kinds).
std::optional<StudyId> OnlyOneWaiting(const MasterState& state, const OfferKind& kind) {
  std::optional<StudyId> only;
  for (const auto& [study, plans] : state.index.ready_for) {
    const bool waits = std::ranges::any_of(
        plans, [&](const RankedPlan& ranked) { return KindOf(state.plans.at(ranked.plan)) == kind; });
    if (!waits) continue;
    if (only) return std::nullopt;
    only = study;
  }
  return only;
}

// The longest ways down of a study's paths of one slot that could start if one were idle: at most `most` of them.
std::vector<Seconds> LengthsOfWaiting(const MasterState& state, StudyId study, const OfferKind& kind, Time now,
                                      std::size_t most) {
  std::vector<Seconds> waiting;
  for (const RankedPlan& ranked : state.index.ready_for.at(study)) {
    const SearchPlan& plan = state.plans.at(ranked.plan);
    if (KindOf(plan) != kind || AwaitsCheck(state, plan)) continue;
    const NeedIndex& needs = state.index.needs.at(plan.id);
    for (const ReadyPath& ready : needs.ready_paths()) {
      for (const auto& [first, totals] : needs.Find(ready.source)->successors) {
        if (waiting.size() == most) return waiting;
        if (IsHeldBack(state, needs, {ready.source, first})) continue;
        const Pause* pause = LongestPause(state, {{first, ready.source.step}, ""});
        if (pause != nullptr && pause->until > now) continue;
        if (DemandAlong(state, plan, ready.source, first) != Demand{}) continue;
        waiting.push_back(SecondsOfMicroseconds(totals.longest));
      }
    }
  }
  return waiting;
}

// Of what was never measured nobody knows how long it takes, nor what a change of runs costs.
bool IsMeasured(const MasterState& state, const SearchPlan& plan) {
  const auto costs = state.costs.find(plan.cost_key);
  return costs != state.costs.end() && costs->second.IsMeasured(CostKind::kStep);
}

// Each kind whose every slot is taken, and for which one study's paths wait alone.
std::map<OfferKind, StudyId> ContestedKinds(const MasterState& state) {
  std::map<OfferKind, StudyId> contested;
  for (const auto& [kind, plans] : state.index.ready_plans) {
    if (HasIdleSlot(state, kind)) continue;
    if (const std::optional<StudyId> only = OnlyOneWaiting(state, kind)) contested.emplace(kind, *only);
  }
  return contested;
}

// With the runs that train on one slot for that study alone. O(runs under way).
std::map<OfferKind, Contest> WithRuns(const MasterState& state, const std::map<OfferKind, StudyId>& contested) {
  std::map<OfferKind, Contest> contests;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training() || run.path.empty() || run.slots != 1 || run.serves.size() != 1) continue;
    const SearchPlan& plan = state.plans.at(run.plan);
    const auto kind = contested.find(KindOf(plan));
    if (kind == contested.end() || kind->second != run.serves.front()) continue;
    Contest& contest = contests[kind->first];
    contest.leaving += run.preempt ? 1 : 0;
    if (!IsMeasured(state, plan) || !CanPreempt(state, run)) continue;
    contest.runs.push_back({id, WayDown(state, run)});
    contest.switching = std::max(contest.switching, SwitchingTime(state, plan, run.path.back().node, false));
  }
  return contests;
}

}  // namespace

Seconds MeasuredSwitchingTime(const MasterState& state, const Run& run) {
  return SwitchingTime(state, state.plans.at(run.plan), run.path.front().node, true);
}

std::vector<Contest> ContestsOf(const MasterState& state, Time now) {
  const std::map<OfferKind, StudyId> contested = ContestedKinds(state);
  if (contested.empty()) return {};
  std::vector<Contest> open;
  for (auto& [kind, contest] : WithRuns(state, contested)) {
    const std::size_t training = contest.runs.size() + contest.leaving;
    if (training < 2) continue;
    contest.waiting = LengthsOfWaiting(state, contested.at(kind), kind, now, training);
    if (contest.waiting.empty()) continue;
    std::ranges::sort(contest.waiting, std::greater<>());
    std::ranges::sort(contest.runs, {}, [](const Contest::Left& each) { return std::pair(each.left, each.run); });
    open.push_back(std::move(contest));
  }
  return open;
}

}  // namespace espalier::master
