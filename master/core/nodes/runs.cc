#include "master/core/nodes/runs.h"

#include <algorithm>

#include "scheduler/fair_share.h"

namespace espalier::master {
namespace {

std::vector<PromiseId> OpenPromises(const Run& run) {
  std::vector<PromiseId> open;
  for (const auto& [id, promise] : run.promises) {
    if (promise.state == PromiseState::kOpen) open.push_back(id);
  }
  return open;
}

// As far as what is stored tells.
Step ReachedBy(const SearchPlan& plan, const Run& run) {
  Step reached = run.at();
  for (const auto& [id, promise] : run.promises) {
    if (promise.state == PromiseState::kKept) reached = std::max(reached, promise.step);
  }
  for (const PathStage& stage : run.path) {
    for (const TrainedRange& range : plan.Node(stage.node).results->trained) {
      if (range.run == run.id) reached = std::max(reached, range.to);
    }
  }
  return reached;
}

void EndIfNothingIsOpen(Draft& draft, RunId id) {
  const Run& run = draft.state().runs.at(id);
  if (std::holds_alternative<Saving>(run.state) && !run.HasOpenPromise()) draft.Do(SetRunState{id, Ended{}});
}

std::int64_t Microseconds(std::chrono::duration<double> seconds) {
  return std::chrono::duration_cast<std::chrono::microseconds>(seconds).count();
}

}  // namespace

void SettlePromiseOf(Draft& draft, RunId run, PromiseId promise, PromiseState state) {
  draft.Do(SettlePromise{run, promise, state, draft.now});
  EndIfNothingIsOpen(draft, run);
}

void MakePromiseOf(Draft& draft, RunId id, PromisedAt what) {
  if (draft.state().runs.at(id).FindOpen(what.step, what.owed) != nullptr) return;
  draft.Do(
      MakePromise{id, {.id = draft.state().next.promise, .step = what.step, .owed = what.owed, .made_at = draft.now}});
}

void Charge(Draft& draft, RunId id, std::vector<StudyId> studies, std::optional<Seconds> held) {
  const Run& run = draft.state().runs.at(id);
  std::int64_t due = run.slots * std::max<std::int64_t>(0, (draft.now - run.charged_to).count());
  if (held) {
    std::int64_t charged = 0;
    for (const auto& [study, microseconds] : run.charges) charged += microseconds;
    due = std::max<std::int64_t>(0, run.slots * Microseconds(*held) - charged);
  }
  std::map<StudyId, std::int64_t> parts = InEqualParts(due, run.serves);
  if (studies.empty()) studies = run.serves;
  draft.Do(ChargeRun{id, draft.now, std::move(parts), std::move(studies)});
}

void StopTraining(Draft& draft, RunId id, const std::vector<Step>& saves_under_way, std::optional<Seconds> held) {
  Charge(draft, id, {}, held);
  for (const Step step : saves_under_way) MakePromiseOf(draft, id, {step, Owed::kState});
  draft.Do(SetRunState{id, Saving{}});
  LoseAllBut(draft, id, saves_under_way);
}

void LoseAllBut(Draft& draft, RunId id, const std::vector<Step>& saves_under_way) {
  for (const PromiseId promise : OpenPromises(draft.state().runs.at(id))) {
    const Promise& open = draft.state().runs.at(id).promises.at(promise);
    const bool comes = open.owed == Owed::kState &&
                       std::find(saves_under_way.begin(), saves_under_way.end(), open.step) != saves_under_way.end();
    if (!comes) draft.Do(SettlePromise{id, promise, PromiseState::kLost, draft.now});
  }
  EndIfNothingIsOpen(draft, id);
}

void RecallPositions(Draft& draft) {
  const std::set<RunId> active = draft.state().active_runs;
  for (const RunId id : active) {
    const Run& run = draft.state().runs.at(id);
    if (!run.training()) continue;
    const Step reached = ReachedBy(draft.state().plans.at(run.plan), run);
    if (reached > run.at()) draft.Do(SetPosition{id, reached});
  }
}

bool CanPreempt(const MasterState& state, const Run& run) {
  return run.training() && !run.preempt && !run.path.empty() &&
         !state.index.preempted_in_vain.contains(BeginningOf(run));
}

void Preempt(Draft& draft, RunId id) {
  const Run& run = draft.state().runs.at(id);
  draft.Log(LogLevel::kInfo, "run preempted", {{"run", id}, {"at", run.at()}});
  draft.Do(SetTerms{id, run.generation + 1, true});
}

void LoseRun(Draft& draft, RunId id) {
  const Run& run = draft.state().runs.at(id);
  draft.Log(LogLevel::kWarning, "run lost", {{"run", id}, {"server", run.slot.server}});
  if (run.training()) return StopTraining(draft, id, {}, std::nullopt);
  for (const PromiseId promise : OpenPromises(run)) SettlePromiseOf(draft, id, promise, PromiseState::kLost);
}

}  // namespace espalier::master
