#include "master/core/state/step_ledger.h"

#include <algorithm>
#include <cmath>

#include "master/core/state/claims.h"
#include "master/core/state/master_state.h"

namespace espalier::master {
namespace {

// So few that who asks has soon worked them out; so many that a node under which run after run trains, since a state
// there is not worth saving, is walked once for many runs.
constexpr std::size_t kTouchedMax = 64;

// Steps (from, to].
struct Interval {
  Step from;
  Step to;
};

Interval Overlap(Interval a, Interval b) { return {std::max(a.from, b.from), std::min(a.to, b.to)}; }

// Steps, as intervals that neither overlap nor touch, in order.
class IntervalSet {
 public:
  // O(intervals).
  void Add(Interval added) {
    if (added.to <= added.from) return;
    const auto first = std::ranges::lower_bound(intervals_, added.from, {}, &Interval::to);
    auto last = first;
    for (; last != intervals_.end() && last->from <= added.to; ++last) {
      added = {std::min(added.from, last->from), std::max(added.to, last->to)};
    }
    intervals_.insert(intervals_.erase(first, last), added);
  }
  void Add(const IntervalSet& added) {
    for (const Interval& each : added.intervals_) Add(each);
  }

  // How many steps of `within` are in it.
  std::int64_t Covered(Interval within) const {
    std::int64_t count = 0;
    for (const Interval& each : intervals_) {
      const Interval overlap = Overlap(each, within);
      if (overlap.from < overlap.to) count += overlap.to - overlap.from;
    }
    return count;
  }

 private:
  std::vector<Interval> intervals_;
};

std::int64_t Nanoseconds(Seconds seconds) { return std::llround(seconds.count() * 1e9); }

// The mean over all that was trained under the node; 0 where nothing was.
std::int64_t StepTimeOf(const PlanNode& node) {
  std::int64_t steps = 0;
  std::int64_t time = 0;
  for (const TrainedRange& range : node.results->trained) {
    steps += range.to - range.from;
    time += Nanoseconds(range.seconds);
  }
  return steps == 0 ? 0 : time / steps;
}

// Those that it serves, or has served: each once.
template <class Take>
void EachServed(const Run& run, const Take& take) {
  for (const auto& [study, charge] : run.charges) take(study);
  for (const StudyId study : run.serves) {
    if (!run.charges.contains(study)) take(study);
  }
}

}  // namespace

StepTotals& StepTotals::operator+=(const StepTotals& other) {
  unique += other.unique;
  trained += other.trained;
  re_derived += other.re_derived;
  wasted += other.wasted;
  reused += other.reused;
  wanted += other.wanted;
  wanted_once += other.wanted_once;
  wanted_trained += other.wanted_trained;
  claimed_time += other.claimed_time;
  unique_time += other.unique_time;
  return *this;
}

StepTotals& StepTotals::operator-=(const StepTotals& other) {
  unique -= other.unique;
  trained -= other.trained;
  re_derived -= other.re_derived;
  wasted -= other.wasted;
  reused -= other.reused;
  wanted -= other.wanted;
  wanted_once -= other.wanted_once;
  wanted_trained -= other.wanted_trained;
  claimed_time -= other.claimed_time;
  unique_time -= other.unique_time;
  return *this;
}

// What a node adds to the totals of some of the studies there, worked out in one walk over the runs that trained under
// it, in the order in which they were ordered.
class StepLedger::NodeCount {
 public:
  NodeCount(const StepLedger& ledger, const MasterState& state, const PlanNode& node)
      : ledger_(ledger), state_(state), node_(node) {}

  void Add(const Share& share) {
    Counted counted{.study = share.study,
                    .first_run = state_.studies.at(share.study).first_run,
                    .done = node_.start,
                    .wanted = node_.start,
                    .claimed = node_.start};
    for (const End& end : share.ends) {
      if (end.done > 0) counted.done = end.at;
      if (end.wanted > 0) counted.wanted = end.at;
      if (end.claimed > 0) counted.claimed = end.at;
      counted.done_steps += (end.at - node_.start) * end.done;
      counted.part.wanted += (end.at - node_.start) * end.wanted;
    }
    counted.part.unique = counted.done - node_.start;
    counted.part.wanted_once = counted.wanted - node_.start;
    counted_.push_back(std::move(counted));
  }

  bool empty() const { return counted_.empty(); }

  // Calls `take` with each study and its part. O(runs that trained there x studies that they serve, and studies added).
  template <class Take>
  void Each(const SearchPlan& plan, const Take& take) {
    const Origin* origin = OriginOf(plan, node_.id);
    if (!node_.results->trained.empty() || origin != nullptr) Walk(origin);
    for (const Counted& counted : counted_) take(counted.study, counted.part);
  }

 private:
  struct Counted {
    StudyId study;
    RunId first_run;
    Step done;
    Step wanted;
    Step claimed;
    std::int64_t done_steps = 0;
    StepTotals part{};
    IntervalSet own{};      // trained by runs that serve it
    IntervalSet earlier{};  // by runs ordered before it was created, or by other code
  };

  void Walk(const Origin* origin) {
    std::ranges::sort(counted_, {}, &Counted::study);
    std::vector<Counted*> by_creation;
    for (Counted& counted : counted_) by_creation.push_back(&counted);
    std::ranges::sort(by_creation, {}, &Counted::first_run);
    std::vector<const TrainedRange*> ranges;
    for (const TrainedRange& range : node_.results->trained) ranges.push_back(&range);
    const auto run_of = [](const TrainedRange* range) { return range->run; };
    if (!std::ranges::is_sorted(ranges, {}, run_of)) std::ranges::sort(ranges, {}, run_of);

    IntervalSet before;  // trained by runs of smaller ids
    auto created = by_creation.begin();
    for (const TrainedRange* range : ranges) {
      for (; created != by_creation.end() && (*created)->first_run <= range->run; ++created)
        (*created)->earlier = before;
      CountRange(*range, before);
      before.Add(Interval{range->from, range->to});
    }
    for (; created != by_creation.end(); ++created) (*created)->earlier = before;

    IntervalSet others;  // trained by other code
    if (origin != nullptr) others.Add(Interval{node_.start, origin->point.step});
    before.Add(others);
    const WideCount step_time = StepTimeOf(node_);
    for (Counted& counted : counted_) Finish(counted, before, others, step_time);
  }

  void CountRange(const TrainedRange& range, const IntervalSet& before) {
    const auto run = state_.runs.find(range.run);  // none: it served retired studies alone
    if (run == state_.runs.end()) return;
    EachServed(run->second, [&](StudyId study) {
      const auto counted = std::ranges::lower_bound(counted_, study, {}, &Counted::study);
      if (counted == counted_.end() || counted->study != study) return;
      counted->own.Add(Interval{range.from, range.to});
      const Interval trained = Overlap({range.from, range.to}, {node_.start, counted->claimed});
      if (trained.to <= trained.from) return;
      counted->part.trained += trained.to - trained.from;
      counted->part.re_derived += before.Covered(trained);
      const auto needless = ledger_.needless_.find(range.run);
      if (needless == ledger_.needless_.end()) return;
      for (const StepRange& each : needless->second) {
        if (each.node != node_.id) continue;
        const Interval wasted = Overlap({each.from, each.to}, trained);
        if (wasted.from < wasted.to) counted->part.wasted += wasted.to - wasted.from;
      }
    });
  }

  void Finish(Counted& counted, const IntervalSet& all, const IntervalSet& others, WideCount step_time) const {
    StepTotals& part = counted.part;
    part.claimed_time = counted.done_steps * step_time;
    part.unique_time = part.unique * step_time;
    part.wanted_trained = all.Covered({node_.start, counted.wanted});
    const std::int64_t own = counted.own.Covered({node_.start, counted.done});
    counted.own.Add(counted.earlier);
    counted.own.Add(others);
    part.reused = counted.own.Covered({node_.start, counted.done}) - own;
  }

  const StepLedger& ledger_;
  const MasterState& state_;
  const PlanNode& node_;
  std::vector<Counted> counted_;
};

template <class Take>
void StepLedger::EachPart(const MasterState& state, PlanId plan_id, PlanNodeId node_id, std::optional<StudyId> only,
                          const Take& take) const {
  const auto shares = shares_.find(node_id);
  if (shares == shares_.end()) return;
  const SearchPlan& plan = state.plans.at(plan_id);
  NodeCount count(*this, state, plan.Node(node_id));
  for (const Share& share : shares->second) {
    if ((!only || share.study == *only) && !frozen_.contains(share.study)) count.Add(share);
  }
  if (!count.empty()) count.Each(plan, take);
}

StepTotals StepLedger::Of(const MasterState& state, StudyId study) const {
  const auto known = totals_.find(study);
  StepTotals totals = known == totals_.end() ? StepTotals{} : known->second;
  for (const auto& [node, plan] : touched_) {
    EachPart(state, plan, node, study, [&](StudyId, const StepTotals& part) { totals += part; });
  }
  return totals;
}

StepTotals StepLedger::OfAll(const MasterState& state) const {
  StepTotals all;
  for (const auto& [study, totals] : totals_) all += totals;
  for (const auto& [node, plan] : touched_) {
    EachPart(state, plan, node, std::nullopt, [&](StudyId, const StepTotals& part) { all += part; });
  }
  return all;
}

void StepLedger::TakeOut(const MasterState& state, PlanId plan, PlanNodeId node) {
  if (!touched_.try_emplace(node, plan).second) return;
  EachPart(state, plan, node, std::nullopt, [&](StudyId study, const StepTotals& part) { totals_[study] -= part; });
}

void StepLedger::PutBackIfMany(const MasterState& state) {
  if (touched_.size() < kTouchedMax) return;
  for (const auto& [node, plan] : touched_) {
    EachPart(state, plan, node, std::nullopt, [&](StudyId study, const StepTotals& part) { totals_[study] += part; });
  }
  touched_.clear();
}

void StepLedger::Touch(const MasterState& state, PlanId plan, PlanNodeId node) {
  PutBackIfMany(state);
  TakeOut(state, plan, node);
}

void StepLedger::Touch(const MasterState& state, const Run& run) {
  PutBackIfMany(state);
  for (const PathStage& stage : run.path) TakeOut(state, run.plan, stage.node);
}

StepLedger::Reach StepLedger::ReachOf(const SearchPlan& plan, const Trial& trial) {
  Reach reach;
  if (const Claim* done = LastDoneClaim(plan, trial)) reach.done = done->point.step;
  if (const Claim* wanted = LastWantedClaim(plan, trial)) reach.wanted = wanted->point.step;
  for (const ClaimId claim : trial.claims) reach.claimed = std::max(reach.claimed, plan.claims.at(claim).point.step);
  return reach;
}

// Counts the trial in, or out, where its lineage ends on the node or goes on beyond it.
void StepLedger::Move(Share& share, const PlanNode& node, Step node_end, const Reach& reach, std::int64_t sign) const {
  const auto count = [&](Step step, std::int64_t End::*counter) {
    const Step at = std::min(step, node_end);
    if (at <= node.start) return;
    auto end = std::lower_bound(share.ends.begin(), share.ends.end(), at,
                                [](const End& each, Step wanted) { return each.at < wanted; });
    if (end == share.ends.end() || end->at != at) end = share.ends.insert(end, End{.at = at});
    (*end).*counter += sign;
    if (end->done == 0 && end->wanted == 0 && end->claimed == 0) share.ends.erase(end);
  };
  count(reach.done, &End::done);
  count(reach.wanted, &End::wanted);
  count(reach.claimed, &End::claimed);
}

void StepLedger::ClaimsChanged(const MasterState& state, const Trial& trial) {
  PutBackIfMany(state);
  const SearchPlan& plan = state.plans.at(trial.plan);
  Reach& known = reach_[trial.id];
  const Reach before = known;
  const Reach after = ReachOf(plan, trial);
  Step first = kStepMax;  // nothing changes on nodes that end at or before it
  const auto look_at = [&](Step a, Step b) { first = a == b ? first : std::min({first, a, b}); };
  look_at(before.done, after.done);
  look_at(before.wanted, after.wanted);
  look_at(before.claimed, after.claimed);
  Step node_end = kStepMax;
  for (std::optional<PlanNodeId> id = trial.leaf; id && node_end > first;) {
    const PlanNode& node = plan.Node(*id);
    if (node.start < after.claimed) {
      TakeOut(state, plan.id, *id);
      std::vector<Share>& shares = shares_[*id];
      auto share = std::ranges::find(shares, trial.study, &Share::study);
      if (share == shares.end()) share = shares.insert(share, Share{trial.study, {}});
      Move(*share, node, node_end, before, -1);
      Move(*share, node, node_end, after, 1);
    }
    node_end = node.start;
    id = node.parent;
  }
  known = after;
}

void StepLedger::Freeze(StudyId study, const StepTotals& totals) {
  frozen_.insert(study);
  totals_[study] = totals;
}

void StepLedger::Forget(const MasterState& state, const Trial& trial) {
  const auto reach = reach_.extract(trial.id);
  if (!reach) return;
  const SearchPlan& plan = state.plans.at(trial.plan);
  Step node_end = kStepMax;
  for (std::optional<PlanNodeId> id = trial.leaf; id;) {
    const PlanNode& node = plan.Node(*id);
    if (const auto shares = shares_.find(*id); shares != shares_.end()) {
      const auto share = std::ranges::find(shares->second, trial.study, &Share::study);
      if (share != shares->second.end()) {
        Move(*share, node, node_end, reach.mapped(), -1);
        if (share->ends.empty()) shares->second.erase(share);
      }
      if (shares->second.empty()) shares_.erase(shares);
    }
    node_end = node.start;
    id = node.parent;
  }
}

void StepLedger::Forget(const Run& run) {
  needless_.erase(run.id);
  for (const PathStage& stage : run.path) {
    const auto promised = promised_.find(stage.node);
    if (promised == promised_.end()) continue;
    std::erase_if(promised->second, [&](const Promised& each) { return each.run == run.id; });
    if (promised->second.empty()) promised_.erase(promised);
  }
}

void StepLedger::PromiseMade(const Run& run, const Promise& promise) {
  if (promise.owed == Owed::kState) promised_[PointOf(run, promise.step).node].push_back({run.id, promise.id});
}

// The deepest step of the stage, past its beginning, that a checkpoint or another run's promise served when the run was
// ordered; its beginning if there is none. One that was lost in the very transition that ordered the run did not stand.
Step StepLedger::DeepestServed(const MasterState& state, const Run& run, const PathStage& stage) const {
  Step deepest = stage.from;
  const auto& checkpoints = state.plans.at(run.plan).Node(stage.node).results->checkpoints;
  for (auto it = checkpoints.upper_bound(stage.from); it != checkpoints.end() && it->first <= stage.to; ++it) {
    if (it->second.stored_at <= run.ordered_at) deepest = it->first;
  }
  const auto promised = promised_.find(stage.node);
  if (promised == promised_.end()) return deepest;
  for (const Promised& each : promised->second) {
    if (each.run >= run.id) continue;
    const Promise& promise = state.runs.at(each.run).promises.at(each.promise);
    if (promise.step <= deepest || promise.step > stage.to || promise.made_at > run.ordered_at) continue;
    std::optional<Time> until = promise.settled_at;
    if (promise.state == PromiseState::kLost) *until -= Time::duration(1);
    if (!until || run.ordered_at <= *until) deepest = promise.step;
  }
  return deepest;
}

std::vector<StepRange> StepLedger::ServedWhenOrdered(const MasterState& state, const Run& run) const {
  std::vector<StepRange> needless;
  for (auto stage = run.path.rbegin(); stage != run.path.rend(); ++stage) {
    const Step to = needless.empty() ? DeepestServed(state, run, *stage) : stage->to;
    if (to > stage->from) needless.push_back({stage->node, stage->from, to});
  }
  return needless;
}

void StepLedger::RunAdded(const MasterState& state, const Run& run) {
  for (const auto& [id, promise] : run.promises) PromiseMade(run, promise);
  std::vector<StepRange> needless = ServedWhenOrdered(state, run);
  if (!needless.empty()) needless_[run.id] = std::move(needless);
}

}  // namespace espalier::master
