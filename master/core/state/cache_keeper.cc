#include "master/core/state/cache_keeper.h"

#include <algorithm>
#include <utility>

#include "master/core/state/step_time.h"
#include "master/core/state/usage.h"
#include "searchplan/plan/record_result.h"

namespace espalier::master {
namespace {

bool IsOfARun(const MasterState& state, PlanId plan, Point point) {
  const auto use = state.index.state_uses.find(point);
  if (use != state.index.state_uses.end() && use->second.runs_under_way > 0) return true;
  const Checkpoint* stands = state.plans.at(plan).FindCheckpoint(point);
  const auto furthest = state.index.furthest_stored.find(stands->run);
  return furthest != state.index.furthest_stored.end() && furthest->second == point;
}

bool IsOpenEnd(const MasterState& state, Point point) {
  const auto ends = state.index.open_ends.find(point.node);
  if (ends == state.index.open_ends.end()) return false;
  const auto at = ends->second.find({point.step, PlanNodeId{0}});
  return at != ends->second.end() && at->second.claimed > 0;
}

// The result whose state the study keeps, of those that may change with one of the trial; where it keeps all that it
// claims, none changes.
std::optional<std::pair<TrialId, Step>> KeptOf(const MasterState& state, const Study& study, TrialId trial) {
  const TrialIndex& trials = state.trial_index.at(study.id);
  if (study.keep == Keep::kBest && trials.best()) return std::pair(trials.best()->trial, trials.best()->step);
  const Step measured_at = trials.MeasuredAt(trial);
  if (study.keep == Keep::kAll && measured_at > Step{0}) return std::pair(trial, measured_at);
  return std::nullopt;
}

KeptState StateAt(const MasterState& state, TrialId id, Step step) {
  const Trial& trial = state.trials.at(id);
  const SearchPlan& plan = state.plans.at(trial.plan);
  return {plan.id, AnsweredAt(plan, PointOn(plan, trial.leaf, step))};
}

bool IsKeptAsClaimed(const Study& study, const ClaimSettled& settled) {
  return study.keep == Keep::kClaimed && settled.state == ClaimState::kDone;
}

// From the nearest checkpoint before it, or Init; microseconds, >= 1.
WideCount RemakeTime(const MasterState& state, const SearchPlan& plan, Point point) {
  WideCount time = 0;
  const PlanNode* node = &plan.Node(point.node);
  Step to = point.step;
  auto after = node->results->checkpoints.lower_bound(to);  // itself, at first
  while (true) {
    const bool has_state = after != node->results->checkpoints.begin();
    const Step from = has_state ? std::prev(after)->first : node->start;
    time += WideCount{to - from} * StepMicroseconds(state, plan, *node);
    if (has_state || !node->parent) return std::max<WideCount>(1, time);
    to = node->start;
    node = &plan.Node(*node->parent);
    after = node->results->checkpoints.upper_bound(to);
  }
}

}  // namespace

bool IsStateWanted(const MasterState& state, PlanId plan, Point point) {
  const auto needs = state.index.needs.find(plan);
  const Place* place = needs == state.index.needs.end() ? nullptr : needs->second.Find(point);
  return place != nullptr && place->wants_state();
}

Standing StandingNow(const MasterState& state, PlanId plan, Point point) {
  if (IsStateWanted(state, plan, point) || IsOfARun(state, plan, point) || state.index.kept.contains(point)) {
    return Standing::kNeeded;
  }
  return IsOpenEnd(state, point) ? Standing::kOpenTrial : Standing::kIdle;
}

CacheValue ValueNow(const MasterState& state, PlanId plan_id, Point point) {
  const SearchPlan& plan = state.plans.at(plan_id);
  CacheValue value{.last_used = plan.FindCheckpoint(point)->stored_at, .remake_time = RemakeTime(state, plan, point)};
  const auto use = state.index.state_uses.find(point);
  if (use == state.index.state_uses.end()) return value;
  value.uses += use->second.runs;
  value.last_used = std::max(value.last_used, use->second.last);
  return value;
}

template <class Change>
void CacheKeeper::InEachCache(PlanId plan, Point point, const Change& change) {
  change(state_.index.cache);
  if (state_.index.limited_caches.empty()) return;
  const auto study = state_.studies.find(state_.plans.at(plan).Node(point.node).caused_by);
  if (study == state_.studies.end()) return;
  for (const Party& party : PartiesOf(study->second)) {
    const auto limited = state_.index.limited_caches.find(party);
    if (limited != state_.index.limited_caches.end()) change(limited->second);
  }
}

void CacheKeeper::Value(PlanId plan, Point point) {
  const Standing standing = StandingNow(state_, plan, point);
  const CacheValue value = standing == Standing::kNeeded ? CacheValue{} : ValueNow(state_, plan, point);
  InEachCache(plan, point, [&](CheckpointCache& cache) { cache.SetStanding(point, standing, value); });
}

void CacheKeeper::Limit(const Party& party, bool has_limit) {
  if (!has_limit) {
    state_.index.limited_caches.erase(party);
    return;
  }
  if (state_.index.limited_caches.contains(party)) return;
  CheckpointCache& limited = state_.index.limited_caches[party];
  std::vector<std::pair<PlanId, Point>> counted;
  state_.index.cache.ForEach([&](Point point, PlanId plan, std::int64_t bytes) {
    const auto study = state_.studies.find(state_.plans.at(plan).Node(point.node).caused_by);
    if (study == state_.studies.end() || !CountsFor(study->second, party)) return;
    limited.Add(point, plan, bytes);
    counted.emplace_back(plan, point);
  });
  for (const auto& [plan, point] : counted) Value(plan, point);
}

void CacheKeeper::LookAgain(PlanId plan, Point point) {
  const std::optional<Standing> before = state_.index.cache.StandingOf(point);
  if (before && *before != StandingNow(state_, plan, point)) Value(plan, point);
}

void CacheKeeper::Around(const Study& study, const ClaimSettled& settled, const std::function<void()>& take) {
  const auto before = KeptOf(state_, study, settled.trial);
  take();
  const auto now = KeptOf(state_, study, settled.trial);
  if (IsKeptAsClaimed(study, settled)) CountKept(settled.trial, settled.step, 1);
  if (now == before) return;
  if (now) CountKept(now->first, now->second, 1);
  if (before) CountKept(before->first, before->second, -1);
}

void CacheKeeper::KeepOf(Study& study, Keep keep) {
  CountAllKept(study, -1);
  study.keep = keep;
  CountAllKept(study, 1);
}

std::vector<KeptState> KeptBy(const MasterState& state, const Study& study, std::size_t first, std::size_t count) {
  std::vector<KeptState> kept;
  const std::vector<TrialId>& trials = state.trials_by_study.at(study.id);
  const bool one_for_all = study.keep == Keep::kBest;
  for (std::size_t i = first; i < std::min(first + count, one_for_all ? 1 : trials.size()); ++i) {
    const auto of_trial = trials.empty() ? std::nullopt : KeptOf(state, study, trials[i]);
    if (of_trial) kept.push_back(StateAt(state, of_trial->first, of_trial->second));
  }
  const std::vector<StudyEvent>& events = state.events.at(study.id);
  for (std::size_t i = first; study.keep == Keep::kClaimed && i < std::min(first + count, events.size()); ++i) {
    const auto* settled = std::get_if<ClaimSettled>(&events[i]);
    if (settled == nullptr || !IsKeptAsClaimed(study, *settled)) continue;
    kept.push_back(StateAt(state, settled->trial, settled->step));
  }
  return kept;
}

void CacheKeeper::KeepOf(RetiredStudy& retired, std::vector<KeptState> kept) {
  for (const KeptState& each : kept) CountKept(each.plan, each.point, 1);
  for (const KeptState& each : retired.kept) CountKept(each.plan, each.point, -1);
  retired.kept = std::move(kept);
}

void CacheKeeper::CountAllKept(const Study& study, std::int64_t sign) {
  const std::size_t all = std::max(state_.trials_by_study.at(study.id).size(), state_.events.at(study.id).size());
  for (const KeptState& kept : KeptBy(state_, study, 0, all)) CountKept(kept.plan, kept.point, sign);
}

void CacheKeeper::CountKept(TrialId id, Step step, std::int64_t sign) {
  const KeptState kept = StateAt(state_, id, step);
  CountKept(kept.plan, kept.point, sign);
}

void CacheKeeper::CountKept(PlanId plan, Point point, std::int64_t sign) {
  const auto kept = state_.index.kept.try_emplace(point).first;
  kept->second += sign;
  if (kept->second == 0) state_.index.kept.erase(kept);
  LookAgain(plan, point);
}

void CacheKeeper::SetFurthest(PlanId plan, RunId run, Point point) {
  const auto [furthest, is_first] = state_.index.furthest_stored.try_emplace(run, point);
  const Point before = furthest->second;
  if (is_first || before.step >= point.step) return;
  furthest->second = point;
  LookAgain(plan, before);
}

void CacheKeeper::Stored(const SearchPlan& plan, Point point) {
  if (OriginAt(plan, point) != nullptr) return;  // the file is the origin's, and kept there
  const Checkpoint& stands = *plan.FindCheckpoint(point);
  const std::int64_t before = state_.index.cache.BytesOf(point);
  UsageKeeper(state_).Count(plan.Node(point.node).caused_by, &Usage::stored_bytes, stands.bytes - before);
  state_.room_wanted.Stored(stands.run, stands.bytes);
  InEachCache(plan.id, point, [&](CheckpointCache& cache) { cache.Add(point, plan.id, stands.bytes); });
  // A node manager may name any run, one of another plan, too.
  const bool is_at_work = state_.active_runs.contains(stands.run) && state_.runs.at(stands.run).plan == plan.id;
  if (is_at_work) SetFurthest(plan.id, stands.run, point);
  Value(plan.id, point);
}

void CacheKeeper::Dropped(const SearchPlan& plan, Point point) {
  const std::int64_t before = state_.index.cache.BytesOf(point);
  UsageKeeper(state_).Count(plan.Node(point.node).caused_by, &Usage::stored_bytes, -before);
  state_.room_wanted.Made(before);
  InEachCache(plan.id, point, [&](CheckpointCache& cache) { cache.Remove(point); });
}

void CacheKeeper::RunAdded(const Run& run) {
  if (run.start) {
    StateUse& use = state_.index.state_uses[*run.start];
    ++use.runs;
    if (!run.ended()) ++use.runs_under_way;
    use.last = std::max(use.last, run.ordered_at);
    if (state_.index.cache.StandingOf(*run.start)) Value(run.plan, *run.start);
  }
  if (run.ended()) return;
  // One that was loaded may have stored something.
  for (const PathStage& stage : run.path) {
    for (const auto& [step, checkpoint] : state_.plans.at(run.plan).Node(stage.node).results->checkpoints) {
      const bool is_its_own = checkpoint.run == run.id && stage.from < step && step <= stage.to;
      if (!is_its_own) continue;
      SetFurthest(run.plan, run.id, {stage.node, step});
      LookAgain(run.plan, {stage.node, step});
    }
  }
}

void CacheKeeper::UsedBefore(PlanId plan, Point point, std::int64_t runs, Time last) {
  StateUse& use = state_.index.state_uses[point];
  use.runs += runs;
  use.last = std::max(use.last, last);
  if (state_.index.cache.StandingOf(point)) Value(plan, point);
}

void CacheKeeper::RunEnded(const Run& run) {
  state_.room_wanted.Forget(run.id);
  if (run.start) {
    --state_.index.state_uses.at(*run.start).runs_under_way;
    LookAgain(run.plan, *run.start);
  }
  const auto furthest = state_.index.furthest_stored.find(run.id);
  if (furthest == state_.index.furthest_stored.end()) return;
  const Point point = furthest->second;
  state_.index.furthest_stored.erase(furthest);
  LookAgain(run.plan, point);
}

}  // namespace espalier::master
