#include "master/core/nodes/needs.h"

#include <algorithm>

#include "master/core/nodes/runs.h"
#include "master/core/nodes/saves_on_the_way.h"

namespace espalier::master {
namespace {

bool TakesPromises(const Run& run) { return run.training() && !run.preempt && run.HasOpenPromise(); }

const NeedIndex& NeedsOf(const MasterState& state, PlanId plan) {
  static const NeedIndex kNone;
  const auto needs = state.index.needs.find(plan);
  return needs == state.index.needs.end() ? kNone : needs->second;
}

// The claims at the place that the run's metrics there would serve, and nobody's do.
bool WantsMetricsOf(const Place& place, const Run& run) {
  const auto waiting = place.waiting.find(run.evaluation);
  return waiting != place.waiting.end() && !waiting->second.claims.empty() && waiting->second.covered_by.empty();
}

// The deepest step at which a run that trains passes, can still promise its state, and serves what ends at `point`; of
// equally deep ones of the run expected there first.
struct Passing {
  RunId run;
  Step step;
};
std::optional<Passing> BestPassing(const MasterState& state, Point point, Step above) {
  std::optional<Passing> best;
  const auto passing = state.index.passing.find(point.node);
  if (passing == state.index.passing.end()) return best;
  for (const RunId id : passing->second) {
    const Run& run = state.runs.at(id);
    if (!TakesPromises(run)) continue;
    for (const PathStage& stage : run.path) {
      const Step step = std::min({stage.to, point.step, EndOf(run)});
      if (stage.node != point.node || step <= stage.from || step <= above || step < run.at()) continue;
      const auto to_go = [&](const Run& each) { return std::max<std::int64_t>(0, step - each.at()); };
      const bool earlier = best && step == best->step && to_go(run) < to_go(state.runs.at(best->run));
      if (!best || step > best->step || earlier) best = Passing{id, step};
    }
  }
  return best;
}

void PromiseMetricsIfWanted(Draft& draft, PlanId plan, RunId id, Point point) {
  const Run& run = draft.state().runs.at(id);
  const Place* place = NeedsOf(draft.state(), plan).Find(point);
  if (place == nullptr || !TakesPromises(run) || run.at() > point.step || EndOf(run) < point.step) return;
  if (WantsMetricsOf(*place, run)) MakePromiseOf(draft, id, {point.step, Owed::kMetrics});
}

// Something is needed at the point that was not before.
void Meet(Draft& draft, PlanId plan_id, Point point, std::set<RunId>& changed) {
  const SearchPlan& plan = draft.state().plans.at(plan_id);
  const NeedIndex& needs = NeedsOf(draft.state(), plan_id);
  const Place* place = needs.Find(point);
  if (place == nullptr) return;
  if (place->hangs) {
    const Point above = needs.Above(plan, point).value();
    const Step from = above.node == point.node ? above.step : plan.Node(point.node).start;
    const std::optional<Passing> passing = BestPassing(draft.state(), point, from);
    if (!passing) return;
    MakePromiseOf(draft, passing->run, {passing->step, Owed::kState});
    changed.insert(passing->run);
    if (passing->step == point.step) PromiseMetricsIfWanted(draft, plan_id, passing->run, point);
    return;
  }
  const std::vector<RunId> promised = place->promised;
  for (const RunId run : promised) {
    PromiseMetricsIfWanted(draft, plan_id, run, point);
    changed.insert(run);
  }
}

// Whether open trials may go on from there, or it is saved by a period.
bool IsKept(const MasterState& state, const ReactorSettings& settings, Point point) {
  if (settings.save_every_steps > 0 && point.step.value % settings.save_every_steps == 0) return true;
  const auto ends = state.index.open_ends.find(point.node);
  if (ends == state.index.open_ends.end()) return false;
  const auto first = ends->second.lower_bound({point.step, PlanNodeId{0}});
  return first != ends->second.end() && first->first.first == point.step;
}

// Nobody wants what is promised at the point any more.
void Withdraw(Draft& draft, PlanId plan, Point point, std::set<RunId>& changed) {
  const Place* found = NeedsOf(draft.state(), plan).Find(point);
  if (found == nullptr) return;
  const Place place = *found;
  for (const auto& [evaluation, waiting] : place.waiting) {
    if (!waiting.claims.empty()) continue;
    for (const RunId id : waiting.covered_by) {
      const Run& run = draft.state().runs.at(id);
      if (!run.training()) continue;
      SettlePromiseOf(draft, id, run.FindOpen(point.step, Owed::kMetrics)->id, PromiseState::kWithdrawn);
      changed.insert(id);
    }
  }
  if (place.wants_state()) return;
  for (const RunId id : place.promised) {
    const Run& run = draft.state().runs.at(id);
    const Promise* promise = run.FindOpen(point.step, Owed::kState);
    const bool on_its_way = !run.training() || promise == nullptr || point.step <= run.at();
    const bool kept = IsKept(draft.state(), draft.settings, point) && point.step < EndOf(run);
    if (on_its_way || kept) continue;
    SettlePromiseOf(draft, id, promise->id, PromiseState::kWithdrawn);
    changed.insert(id);
  }
}

// States that were only kept as the run passes are no reason to go on.
void DropWhatLiesBeyondNeed(Draft& draft, RunId id) {
  while (true) {
    const Run& run = draft.state().runs.at(id);
    if (run.open.empty()) return;
    const auto [promised, last] = *run.open.rbegin();
    const auto [step, owed] = promised;
    if (step <= run.at() || owed != Owed::kState) return;
    const Place* place = NeedsOf(draft.state(), run.plan).Find(PointOf(run, step));
    if (place == nullptr || place->wants_state()) return;
    SettlePromiseOf(draft, id, last, PromiseState::kWithdrawn);
  }
}

// The run is told of what changed; one that has passed all that it is needed for stops.
void Conclude(Draft& draft, RunId id) {
  if (!draft.state().runs.at(id).training() || draft.state().runs.at(id).preempt) return;
  DropWhatLiesBeyondNeed(draft, id);
  const Run& run = draft.state().runs.at(id);
  draft.Do(SetTerms{id, run.generation + 1, run.preempt});
  std::vector<Step> under_way;
  bool ahead = false;
  for (const auto& [promised, promise] : run.open) {
    ahead |= promised.first >= run.at();
    if (promised.second == Owed::kState) under_way.push_back(promised.first);
  }
  if (ahead) return;
  draft.Log(LogLevel::kInfo, "run stopped, nothing ahead of it is needed", {{"run", id}});
  StopTraining(draft, id, under_way, std::nullopt);
}

}  // namespace

std::vector<StudyId> StudiesServed(const MasterState& state, const Run& run) {
  const SearchPlan& plan = state.plans.at(run.plan);
  const NeedIndex& needs = NeedsOf(state, run.plan);
  std::set<StudyId> studies;
  for (const auto& [promised, promise] : run.open) {
    const Place* place = needs.Find(PointOf(run, promised.first));
    if (place == nullptr) continue;
    if (promised.second == Owed::kState) {
      for (const auto& [study, count] : place->studies.counts()) studies.insert(study);
      for (const auto& [study, count] : place->below.studies.counts()) studies.insert(study);
      continue;
    }
    const auto waiting = place->waiting.find(run.evaluation);
    if (waiting == place->waiting.end()) continue;
    for (const ClaimId claim : waiting->second.claims)
      studies.insert(state.trials.at(plan.claims.at(claim).trial).study);
  }
  return {studies.begin(), studies.end()};
}

std::vector<PromisedAt> PromisesAlong(const MasterState& state, const Run& run, const ReactorSettings& settings) {
  std::set<PromisedAt> promises;
  const NeedIndex& needs = NeedsOf(state, run.plan);
  const auto add_metrics = [&](const Place& place, Step step) {
    if (WantsMetricsOf(place, run)) promises.insert({step, Owed::kMetrics});
  };
  if (run.path.empty()) {
    const Place* place = needs.Find(*run.start);
    if (place != nullptr) add_metrics(*place, run.start->step);
    return {promises.begin(), promises.end()};
  }
  const Step end = run.path.back().to;
  for (std::size_t i = 0; i < run.path.size(); ++i) {
    const PathStage& stage = run.path[i];
    const PlanNodeId next = i + 1 < run.path.size() ? run.path[i + 1].node : PlanNodeId{0};
    const auto& places = needs.nodes().at(stage.node).places;
    for (auto it = places.upper_bound(stage.from); it != places.end() && it->first <= stage.to; ++it) {
      const auto& [step, place] = *it;
      const PlanNodeId on_path = step == stage.to ? next : stage.node;
      const bool goes_elsewhere = std::any_of(place.successors.begin(), place.successors.end(),
                                              [&](const auto& each) { return each.first != on_path; });
      const bool waits = std::any_of(place.waiting.begin(), place.waiting.end(),
                                     [](const auto& each) { return !each.second.claims.empty(); });
      if (!place.has_state() && (waits || goes_elsewhere || step == end)) promises.insert({step, Owed::kState});
      add_metrics(place, step);
    }
  }
  std::set<Step> owed;
  for (const PromisedAt& promise : promises) {
    if (promise.owed == Owed::kState) owed.insert(promise.step);
  }
  for (const Step step : SavesOnTheWay(state, run, owed, settings)) promises.insert({step, Owed::kState});
  return {promises.begin(), promises.end()};
}

void MeetNeeds(Draft& draft, PlanId plan) {
  std::set<RunId> changed;
  std::set<RunId> served;
  while (true) {
    const NeedIndex::News news = draft.TakeNews(plan);
    served.insert(news.served.begin(), news.served.end());
    for (const Point point : news.needed) Meet(draft, plan, point, changed);
    for (const Point point : news.unneeded) Withdraw(draft, plan, point, changed);
    if (news.needed.empty() && news.unneeded.empty()) break;
  }
  for (const RunId id : served) {
    const auto run = draft.state().runs.find(id);
    if (run == draft.state().runs.end() || !run->second.training()) continue;
    const std::vector<StudyId> studies = StudiesServed(draft.state(), run->second);
    if (studies.empty() || studies == run->second.serves) continue;
    Charge(draft, id, studies);
    changed.insert(id);  // periods of evaluation come and go with the studies
  }
  for (const RunId id : changed) Conclude(draft, id);
}

}  // namespace espalier::master
