#include "master/core/state/step_ledger.h"

#include <algorithm>
#include <cmath>

#include "master/core/state/claims.h"
#include "master/core/state/master_state.h"

namespace espalier::master {
namespace {

// Now, or before.
bool Serves(const Run& run, StudyId study) {
  return run.charges.contains(study) || std::binary_search(run.serves.begin(), run.serves.end(), study);
}

// Steps (from, to].
struct Interval {
  Step from;
  Step to;
};

Interval Overlap(Interval a, Interval b) { return {std::max(a.from, b.from), std::min(a.to, b.to)}; }

// How many steps of `within` lie in one of these.
std::int64_t Covered(std::vector<Interval> intervals, Interval within) {
  std::sort(intervals.begin(), intervals.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  std::int64_t count = 0;
  Step reached = within.from;
  for (const Interval& interval : intervals) {
    const Step from = std::max(interval.from, reached);
    const Step to = std::min(interval.to, within.to);
    if (to <= from) continue;
    count += to - from;
    reached = to;
  }
  return count;
}

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

// What was trained under a node, as one study sees it.
struct Trained {
  std::vector<Interval> all;
  std::vector<Interval> own;      // by runs that serve the study
  std::vector<Interval> earlier;  // by others, ordered before it was created
};

void AddRange(const MasterState& state, const TrainedRange& range, StudyId study, Trained& trained) {
  trained.all.push_back({range.from, range.to});
  const auto run = state.runs.find(range.run);  // none: it is not loaded yet, or served retired studies alone
  if (run != state.runs.end() && Serves(run->second, study)) {
    trained.own.push_back({range.from, range.to});
  } else if (range.run < state.studies.at(study).first_run) {
    trained.earlier.push_back({range.from, range.to});
  }
}

Trained TrainedUnder(const MasterState& state, const SearchPlan& plan, const PlanNode& node, StudyId study) {
  Trained trained;
  if (const Origin* origin = OriginOf(plan, node.id)) {
    trained.all.push_back({node.start, origin->point.step});
    trained.earlier.push_back({node.start, origin->point.step});
  }
  for (const TrainedRange& range : node.results->trained) AddRange(state, range, study, trained);
  return trained;
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

StepTotals StepLedger::Of(StudyId study) const {
  const auto totals = totals_.find(study);
  return totals == totals_.end() ? StepTotals{} : totals->second;
}

StepTotals StepLedger::PartOf(const MasterState& state, const SearchPlan& plan, const PlanNode& node,
                              const Share& share) const {
  StepTotals part;
  Step done = node.start;
  Step wanted = node.start;
  Step claimed = node.start;
  std::int64_t done_steps = 0;
  for (const End& end : share.ends) {
    if (end.done > 0) done = end.at;
    if (end.wanted > 0) wanted = end.at;
    if (end.claimed > 0) claimed = end.at;
    done_steps += (end.at - node.start) * end.done;
    part.wanted += (end.at - node.start) * end.wanted;
  }
  part.unique = done - node.start;
  part.wanted_once = wanted - node.start;
  if (node.results->trained.empty() && OriginOf(plan, node.id) == nullptr) return part;
  const WideCount step_time = StepTimeOf(node);
  part.claimed_time = done_steps * step_time;
  part.unique_time = part.unique * step_time;
  const Trained trained = TrainedUnder(state, plan, node, share.study);
  part.wanted_trained = Covered(trained.all, {node.start, wanted});
  std::vector<Interval> not_reused = trained.own;
  const std::int64_t own = Covered(not_reused, {node.start, done});
  not_reused.insert(not_reused.end(), trained.earlier.begin(), trained.earlier.end());
  part.reused = Covered(not_reused, {node.start, done}) - own;
  for (const TrainedRange& range : node.results->trained) {
    const auto run = state.runs.find(range.run);
    if (run == state.runs.end() || !Serves(run->second, share.study)) continue;
    const Interval counted = Overlap({range.from, range.to}, {node.start, claimed});
    if (counted.to <= counted.from) continue;
    part.trained += counted.to - counted.from;
    std::vector<Interval> before;
    for (const TrainedRange& other : node.results->trained) {
      if (other.run < range.run) before.push_back({other.from, other.to});
    }
    part.re_derived += Covered(std::move(before), counted);
    const auto needless = needless_.find(range.run);
    if (needless == needless_.end()) continue;
    for (const StepRange& each : needless->second) {
      if (each.node == node.id) part.wasted += Covered({{each.from, each.to}}, counted);
    }
  }
  return part;
}

void StepLedger::AddParts(const MasterState& state, PlanId plan_id, PlanNodeId node_id, int sign) {
  const auto shares = shares_.find(node_id);
  if (shares == shares_.end()) return;
  const SearchPlan& plan = state.plans.at(plan_id);
  const PlanNode& node = plan.Node(node_id);
  for (const Share& share : shares->second) {
    if (frozen_.contains(share.study)) continue;
    const StepTotals part = PartOf(state, plan, node, share);
    sign > 0 ? (void)(totals_[share.study] += part) : (void)(totals_[share.study] -= part);
  }
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
      std::vector<Share>& shares = shares_[*id];
      auto share = std::find_if(shares.begin(), shares.end(), [&](const Share& s) { return s.study == trial.study; });
      if (share == shares.end()) share = shares.insert(share, Share{trial.study, {}});
      StepTotals& totals = totals_[trial.study];
      totals -= PartOf(state, plan, node, *share);
      Move(*share, node, node_end, before, -1);
      Move(*share, node, node_end, after, 1);
      totals += PartOf(state, plan, node, *share);
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
