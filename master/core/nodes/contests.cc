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
#include "master/core/state/prices.h"
#include "master/core/state/step_time.h"
#include "master/core/state/usage.h"
#include "master/core/views/running_work.h"

namespace espalier::master {
namespace {

// As the index has it; of what it has not, as the plan and its trainer's costs have it. O(1), or O(hyper-parameters).
std::int64_t StepTimeOn(const MasterState& state, const SearchPlan& plan, const NeedIndex& needs, PlanNodeId node) {
  const std::int64_t indexed = needs.StepTimeOf(node);
  return indexed != 0 ? indexed : StepMicroseconds(state, plan, plan.Node(node));
}

// Estimated.
struct WorkLeft {
  Seconds to_end{0};    // of its path
  Seconds way_down{0};  // the longest, of that and of what waits for the states that it has promised
};

// O(open promises x path).
WorkLeft LeftOf(const MasterState& state, const SearchPlan& plan, const NeedIndex& needs, const Run& run) {
  const auto time_to = [&](Step to) {
    WideCount time = 0;
    for (const StepRange& range : PathRanges(run, run.at(), to)) {
      time += WideCount{StepTimeOn(state, plan, needs, range.node)} * (range.to - range.from);
    }
    return time;
  };
  const auto longest_below = [&](Step step) {
    const Place* place = needs.Find(PointOf(run, step));
    return place == nullptr ? WideCount{0} : place->below.longest;
  };
  const WideCount to_end = time_to(EndOf(run));
  WideCount longest = to_end + longest_below(EndOf(run));
  for (const auto& [owed, promise] : run.open) {
    if (owed.second != Owed::kState || owed.first == EndOf(run)) continue;
    longest = std::max(longest, time_to(owed.first) + longest_below(owed.first));
  }
  return {SecondsOfMicroseconds(to_end), SecondsOfMicroseconds(longest)};
}

// To store a state of the node, and to begin with another's. `measured_only`: without what was never measured.
Seconds SwitchingTime(const MasterState& state, const SearchPlan& plan, PlanNodeId node_id, bool measured_only) {
  NodePrices prices = PricesOf(state, plan, plan.Node(node_id));
  Seconds time{0};
  for (const CostKind kind : {CostKind::kSave, CostKind::kLoad, CostKind::kSetUp}) {
    if (measured_only && !prices.IsMeasured(kind)) continue;
    time += prices.Time(kind);
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

// Those of a kind whose every slot is taken are no more than the runs under way, of whatever kind. O(1).
double SlotsAtMost(const MasterState& state) {
  return static_cast<double>(std::max<std::size_t>(1, state.active_runs.size()));
}

// Of what hangs from states, estimated.
struct WaitingWork {
  Seconds a_slot{0};   // for so long it keeps every slot busy, at the least
  Seconds longest{0};  // way down
};

// Of these plans. O(plans).
WaitingWork WorkOf(const MasterState& state, const std::set<RankedPlan>& plans) {
  WideCount work = 0;
  WideCount longest = 0;
  for (const RankedPlan& ranked : plans) {
    const NeedIndex& needs = state.index.needs.at(ranked.plan);
    work += needs.work_left();
    longest = std::max(longest, needs.longest_left());
  }
  return {SecondsOfMicroseconds(work) / SlotsAtMost(state), SecondsOfMicroseconds(longest)};
}

struct Contested {
  StudyId study;  // whose paths wait alone
  Contest contest;
};

// Each kind whose every slot is taken, for which one study's paths wait alone, and of which the end is near.
std::map<OfferKind, Contested> ContestedKinds(const MasterState& state) {
  std::map<OfferKind, Contested> contested;
  for (const auto& [kind, plans] : state.index.ready_plans) {
    if (HasIdleSlot(state, kind)) continue;
    const WaitingWork work = WorkOf(state, plans);
    if (work.a_slot >= 2 * work.longest) continue;
    const std::optional<StudyId> only = OnlyOneWaiting(state, kind);
    if (only) contested.emplace(kind, Contested{*only, {.work_a_slot = work.a_slot}});
  }
  return contested;
}

// Adds the runs that train on one slot for that study alone. O(runs under way).
void AddRuns(const MasterState& state, std::map<OfferKind, Contested>& contested) {
  struct OfPlan {
    const SearchPlan& plan;
    const NeedIndex& needs;
    Contested* contested;  // null: its kind is not
    bool is_measured;
  };
  std::map<PlanId, OfPlan> plans;
  const auto of_plan = [&](PlanId id) {
    const SearchPlan& plan = state.plans.at(id);
    const auto kind = contested.find(KindOf(plan));
    return OfPlan{plan, state.index.needs.at(id), kind == contested.end() ? nullptr : &kind->second,
                  IsMeasured(state, plan)};
  };
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (!run.training() || run.path.empty() || run.slots != 1 || run.serves.size() != 1) continue;
    auto known = plans.find(run.plan);
    if (known == plans.end()) known = plans.emplace(run.plan, of_plan(run.plan)).first;
    const OfPlan& its = known->second;
    if (its.contested == nullptr || its.contested->study != run.serves.front()) continue;
    Contest& contest = its.contested->contest;
    contest.leaving += run.preempt ? 1 : 0;
    const WorkLeft left = LeftOf(state, its.plan, its.needs, run);
    contest.work_a_slot += left.to_end / SlotsAtMost(state);
    if (its.is_measured && CanPreempt(state, run)) contest.runs.push_back({id, left.way_down});
  }
}

// The most that it takes of those that would leave first, one for each path that waits.
Seconds LongestSwitching(const MasterState& state, const Contest& contest) {
  Seconds longest{0};
  for (std::size_t i = 0; i < std::min(contest.waiting.size(), contest.runs.size()); ++i) {
    const Run& run = state.runs.at(contest.runs.rbegin()[static_cast<std::ptrdiff_t>(i)].run);
    longest = std::max(longest, SwitchingTime(state, state.plans.at(run.plan), run.path.back().node, false));
  }
  return longest;
}

}  // namespace

Seconds MeasuredSwitchingTime(const MasterState& state, const Run& run) {
  return SwitchingTime(state, state.plans.at(run.plan), run.path.front().node, true);
}

std::vector<Contest> ContestsOf(const MasterState& state, Time now) {
  std::map<OfferKind, Contested> contested = ContestedKinds(state);
  if (contested.empty()) return {};
  AddRuns(state, contested);
  std::vector<Contest> open;
  for (auto& [kind, each] : contested) {
    Contest& contest = each.contest;
    const std::size_t training = contest.runs.size() + contest.leaving;
    if (training < 2) continue;
    contest.waiting = LengthsOfWaiting(state, each.study, kind, now, training);
    if (contest.waiting.empty()) continue;
    std::ranges::sort(contest.waiting, std::greater<>());
    std::ranges::sort(contest.runs, std::greater<>(),
                      [](const Contest::Left& left) { return std::pair(left.left, left.run); });
    contest.switching = LongestSwitching(state, contest);
    open.push_back(std::move(contest));
  }
  return open;
}

}  // namespace espalier::master
