#include "master/core/nodes/ordering.h"

#include <algorithm>
#include <utility>

#include "master/core/nodes/runs.h"
#include "scheduler/cost_model.h"
#include "scheduler/needed_promises.h"

namespace espalier::master {
namespace {

std::vector<OpenLineage> OpenLineagesOf(const MasterState& state, PlanId plan) {
  std::vector<OpenLineage> open;
  const auto trials = state.open_trials.find(plan);
  if (trials == state.open_trials.end()) return open;
  for (const TrialId id : trials->second) {
    const Trial& trial = state.trials.at(id);
    const Step last = trial.claims.empty() ? Step{0} : state.plans.at(plan).claims.at(trial.claims.back()).point.step;
    open.push_back({trial.leaf, trial.horizon, last});
  }
  return open;
}

// The views of a plan's runs that have not ended.
std::vector<RunView> ActiveViews(const MasterState& state, PlanId plan) {
  std::vector<RunView> views;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (run.plan == plan) views.push_back(ViewOf(run));
  }
  return views;
}

std::vector<StudyId> StudiesOf(const MasterState& state, PlanId plan, const std::set<ClaimId>& claims) {
  std::set<StudyId> studies;
  for (const ClaimId claim : claims) {
    studies.insert(state.trials.at(state.plans.at(plan).claims.at(claim).trial).study);
  }
  return {studies.begin(), studies.end()};
}

void Serve(Draft& draft, RunId id, const std::set<ClaimId>& claims) {
  const auto served = draft.state().served.find(id);
  const bool same = served == draft.state().served.end() ? claims.empty() : served->second == claims;
  if (!same) draft.Do(SetServed{id, claims});
}

// Makes the run promise exactly what it is needed for, and serve whom it serves; a runner that has passed all that is
// needed stops at once, and its slot counts as free from now on.
void Need(Draft& draft, RunId id, const Needed& needed) {
  bool changed = false;
  for (const PromisedAt& wanted : needed.promises) {
    if (draft.state().runs.at(id).FindOpen(wanted.step, wanted.owed) != nullptr) continue;
    MakePromiseOf(draft, id, wanted);
    changed = true;
  }
  const std::map<PromiseId, Promise> promises = draft.state().runs.at(id).promises;
  for (const auto& [promise_id, promise] : promises) {
    if (promise.state != PromiseState::kOpen || needed.promises.contains({promise.step, promise.owed})) continue;
    SettlePromiseOf(draft, id, promise_id, PromiseState::kWithdrawn);
    changed = true;
  }
  Serve(draft, id, needed.serves);
  const Run& run = draft.state().runs.at(id);
  const std::vector<StudyId> serves = StudiesOf(draft.state(), run.plan, needed.serves);
  if (!serves.empty() && serves != run.serves) {
    Charge(draft, id, serves);
    changed = true;  // periods of evaluation come and go with the studies
  }
  if (!changed) return;
  draft.Do(SetTerms{id, run.generation + 1, run.preempt});
  if (!needed.promises.empty() && needed.promises.rbegin()->step >= run.at()) return;
  draft.Log(LogLevel::kInfo, "run stopped, nothing ahead of it is needed", {{"run", id}});
  std::vector<Step> under_way;
  for (const PromisedAt& promise : needed.promises) {
    if (promise.owed == Owed::kState) under_way.push_back(promise.step);
  }
  StopTraining(draft, id, under_way, std::nullopt);
}

void DerivePromises(Draft& draft, PlanId plan_id) {
  const std::vector<RunView> views = ActiveViews(draft.state(), plan_id);
  if (views.empty()) return;
  const auto needed = NeededPromises(draft.state().plans.at(plan_id), views, OpenLineagesOf(draft.state(), plan_id));
  for (const auto& [id, of_run] : needed) {
    const Run& run = draft.state().runs.at(id);
    if (run.training() && !run.preempt) {
      Need(draft, id, of_run);
    } else {
      Serve(draft, id, of_run.serves);
    }
  }
}

// Servers alike in device kind and offers: any of their slots may train the same plans and evaluate alike.
using ServerKind = std::pair<std::string, std::map<Digest128, Digest128>>;

std::map<ServerKind, std::vector<SlotId>> IdleSlots(const MasterState& state) {
  std::set<SlotId> busy;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (run.training()) busy.insert(run.slot);
  }
  std::map<ServerKind, std::vector<SlotId>> idle;
  for (const auto& [name, server] : state.servers) {
    if (!server.session) continue;
    for (int index = 0; index < server.slot_count; ++index) {
      const SlotId slot{name, index};
      if (!busy.contains(slot)) idle[{server.device_kind, server.offers}].push_back(slot);
    }
  }
  return idle;
}

// Whether the stage may be ordered from this kind of server now: it measures the evaluation that is asked for, and no
// failure pauses the stage.
bool MayStart(const Draft& draft, const Stage& stage, const std::string& evaluation) {
  if (!stage.evaluation.empty() && stage.evaluation != evaluation) return false;
  const Point beginning =
      stage.parent || stage.from == stage.to ? Point{stage.node, stage.to} : Point{stage.node, stage.from};
  const auto pause = draft.state().pauses.find({beginning, stage.evaluation});
  return pause == draft.state().pauses.end() || pause->second.until <= draft.now;
}

View ViewFor(const Draft& draft, const ServerKind& kind, const std::vector<SlotId>& idle) {
  const MasterState& state = draft.state();
  View view{.trees = {}, .idle_slots = idle, .runs = {}};
  for (const auto& [id, plan] : state.plans) {
    const auto offer = kind.second.find(plan.trainer);
    if (plan.waiting.empty() || plan.identity.device_kind != kind.first || offer == kind.second.end()) continue;
    PlannedTree planned{.tree = BuildStageTree(plan, ActiveViews(state, id)), .stage_times = {}};
    if (planned.tree.stages.empty()) continue;
    const std::string& evaluation = state.offers.at(offer->second).offer.evaluation_digest;
    for (Stage& stage : planned.tree.stages) stage.held = !stage.parent && !MayStart(draft, stage, evaluation);
    planned.stage_times = StageTimes(CostModel::FromPlan(plan), plan, planned.tree);
    view.trees.push_back(std::move(planned));
  }
  for (const RunId id : state.active_runs) {
    if (state.runs.at(id).training()) view.runs.push_back(ViewOf(state.runs.at(id)));
  }
  return view;
}

// A run of these stages; its promises are filled in by the caller.
Run RunOf(const Draft& draft, const StageTree& tree, const StartRun& action) {
  const Stage& first = tree.stages.at(action.stages.front());
  const MasterState& state = draft.state();
  const SearchPlan& plan = state.plans.at(tree.plan);
  const Server& server = state.servers.at(action.slot.server);
  const Digest128 offer = server.offers.at(plan.trainer);
  Run run{.id = state.next.run,
          .leadership = state.leadership,
          .plan = tree.plan,
          .slot = action.slot,
          .incarnation = server.incarnation,
          .offer = offer,
          .evaluation = state.offers.at(offer).offer.evaluation_digest,
          .start = {},
          .start_file = {},
          .path = {},
          .promises = {},
          .state = Training{first.from},
          .ordered_at = draft.now,
          .serves = {},
          .charges = {},
          .charged_to = draft.now};
  if (const auto* checkpoint = std::get_if<FromCheckpoint>(&first.source)) {
    run.start = checkpoint->point;
    run.start_file = plan.FindCheckpoint(checkpoint->point)->file;
  }
  for (const std::size_t index : action.stages) {
    const Stage& stage = tree.stages.at(index);
    if (stage.from == stage.to) continue;
    if (!run.path.empty() && run.path.back().node == stage.node) {
      run.path.back().to = stage.to;
    } else {
      run.path.push_back({stage.node, stage.from, stage.to});
    }
  }
  return run;
}

// A policy may be unwise, never wrong: the slot is idle, the first stage may be ordered, each next hangs below the one
// before, and the stage does not go back to the one server on which it crashed while another offers the same.
bool IsAllowed(const Draft& draft, const View& view, const StartRun& action, std::set<SlotId>& used) {
  if (action.tree >= view.trees.size() || action.stages.empty()) return false;
  const StageTree& tree = view.trees[action.tree].tree;
  const bool is_idle = std::find(view.idle_slots.begin(), view.idle_slots.end(), action.slot) != view.idle_slots.end();
  if (!is_idle || action.stages.front() >= tree.stages.size() || !IsReady(tree, action.stages.front())) return false;
  for (std::size_t i = 1; i < action.stages.size(); ++i) {
    if (action.stages[i] >= tree.stages.size() || tree.stages[action.stages[i]].parent != action.stages[i - 1]) {
      return false;
    }
  }
  const Stage& first = tree.stages[action.stages.front()];
  const auto pause = draft.state().pauses.find({{first.node, first.from}, first.evaluation});
  if (pause != draft.state().pauses.end() && pause->second.avoid == action.slot.server) {
    const Server& server = draft.state().servers.at(action.slot.server);
    const Digest128 trainer = draft.state().plans.at(tree.plan).trainer;
    for (const auto& [name, other] : draft.state().servers) {
      const bool offers = other.session && other.device_kind == server.device_kind && other.offers.contains(trainer);
      if (name != server.name && offers) return false;
    }
  }
  return used.insert(action.slot).second;
}

void Start(Draft& draft, const StageTree& tree, const StartRun& action) {
  Run run = RunOf(draft, tree, action);
  RunView view = ViewOf(run);
  view.promises = {{PathEnd(view), run.path.empty() ? Owed::kMetrics : Owed::kState}};
  std::vector<RunView> views = ActiveViews(draft.state(), tree.plan);
  views.push_back(view);
  const auto needed =
      NeededPromises(draft.state().plans.at(tree.plan), views, OpenLineagesOf(draft.state(), tree.plan));
  const Needed& of_run = needed.at(run.id);
  if (of_run.promises.empty() || of_run.serves.empty()) {
    draft.Log(LogLevel::kError, "a path was to be ordered that nothing needs", {{"plan", tree.plan}});
    return;
  }
  PromiseId next = draft.state().next.promise;
  for (const PromisedAt& promise : of_run.promises) {
    run.promises.emplace(next, Promise{.id = next, .step = promise.step, .owed = promise.owed, .made_at = draft.now});
    ++next.value;
  }
  run.serves = StudiesOf(draft.state(), tree.plan, of_run.serves);
  draft.Log(LogLevel::kInfo, "run started",
            {{"run", run.id},
             {"plan", run.plan},
             {"slot", run.slot.server + "/" + std::to_string(run.slot.index)},
             {"from", run.at()},
             {"to", PathEnd(view)}});
  const RunId id = run.id;
  draft.Do(AddRun{std::move(run)});
  Serve(draft, id, of_run.serves);
  DerivePromises(draft, tree.plan);
}

// Saves at the next step's end, and frees its slot there.
void Preempt(Draft& draft, RunId id) {
  const auto run = draft.state().runs.find(id);
  if (run == draft.state().runs.end() || !run->second.training() || run->second.preempt) return;
  draft.Do(SetTerms{id, run->second.generation + 1, true});
}

void HandOut(Draft& draft) {
  for (const auto& [kind, slots] : IdleSlots(draft.state())) {
    const View view = ViewFor(draft, kind, slots);
    if (view.trees.empty()) continue;
    std::set<SlotId> used;
    for (const Action& action : draft.policy.Decide(view, draft.now)) {
      const auto* start = std::get_if<StartRun>(&action);
      if (start != nullptr && IsAllowed(draft, view, *start, used))
        Start(draft, view.trees.at(start->tree).tree, *start);
      if (const auto* preempt = std::get_if<PreemptRun>(&action)) Preempt(draft, preempt->run);
    }
  }
}

}  // namespace

void OrderRuns(Draft& draft) {
  const std::set<PlanId> plans = draft.touched.plans;
  for (const PlanId plan : plans) DerivePromises(draft, plan);
  if (draft.touched.work) HandOut(draft);
}

}  // namespace espalier::master
