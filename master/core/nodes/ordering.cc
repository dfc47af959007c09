#include "master/core/nodes/ordering.h"

#include <algorithm>
#include <utility>

#include "scheduler/cost_model.h"
#include "scheduler/needed_targets.h"

namespace espalier::master {
namespace {

std::vector<OpenLineage> OpenLineagesOf(const MasterState& state, PlanId plan) {
  std::vector<OpenLineage> open;
  const auto trials = state.open_trials.find(plan);
  if (trials == state.open_trials.end()) return open;
  for (const TrialId id : trials->second) {
    const Trial& trial = state.trials.at(id);
    open.push_back({trial.leaf, trial.horizon});
  }
  return open;
}

// The views of a plan's runs that are not ended.
std::vector<RunView> ActiveViews(const MasterState& state, PlanId plan) {
  std::vector<RunView> views;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (run.plan == plan) views.push_back(ViewOf(run));
  }
  return views;
}

// Nobody needs anything of it any more: the slot counts as free from now on.
void StopRun(Draft& draft, const Run& run) {
  draft.Emit(LogLine{LogLevel::kInfo, "run stopped, nothing needs it run=" + std::to_string(run.id.value)});
  const Seconds held(draft.now - run.ordered_at);
  draft.Do(SetRunState{run.id, RunState::kEnded, held});
  draft.schedule = true;
}

void DeriveTargets(Draft& draft, PlanId plan_id) {
  const std::vector<RunView> views = ActiveViews(draft.state(), plan_id);
  if (views.empty()) return;
  const auto needed = NeededTargets(draft.state().plans.at(plan_id), views, OpenLineagesOf(draft.state(), plan_id));
  for (const auto& [id, targets] : needed) {
    const Run& run = draft.state().runs.at(id);
    if (run.state != RunState::kTraining || run.preempt || targets == OpenTargets(run)) continue;
    draft.Do(SetTargets{id, run.generation + 1, targets, draft.now});
    draft.touched_servers.insert(run.slot.server);
    if (targets.empty()) StopRun(draft, run);
  }
}

// Servers alike in device kind and trainers: any of their slots may train the same plans.
using ServerKind = std::pair<std::string, std::set<TrainerKey>>;

std::map<ServerKind, std::vector<SlotId>> IdleSlots(const MasterState& state) {
  std::set<SlotId> busy;
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    if (run.state == RunState::kTraining) busy.insert(run.slot);
  }
  std::map<ServerKind, std::vector<SlotId>> idle;
  for (const auto& [name, server] : state.servers) {
    if (!server.session) continue;
    for (int index = 0; index < server.slot_count; ++index) {
      const SlotId slot{name, index};
      if (!busy.contains(slot)) idle[{server.device_kind, server.trainers}].push_back(slot);
    }
  }
  return idle;
}

View ViewFor(const MasterState& state, const ServerKind& kind, const std::vector<SlotId>& idle) {
  View view{.idle_slots = idle};
  for (const auto& [id, plan] : state.plans) {
    const TrainingIdentity& training = plan.identity.training;
    if (plan.waiting.empty() || plan.identity.device_kind != kind.first ||
        !kind.second.contains({training.trainer, training.data})) {
      continue;
    }
    PlannedTree planned{.tree = BuildStageTree(plan, ActiveViews(state, id))};
    if (planned.tree.stages.empty()) continue;
    const CostModel costs = CostModel::FromPlan(plan);
    planned.stage_times = StageTimes(costs, plan, planned.tree);
    view.trees.push_back(std::move(planned));
  }
  for (const RunId id : state.active_runs) {
    if (state.runs.at(id).state == RunState::kTraining) view.runs.push_back(ViewOf(state.runs.at(id)));
  }
  return view;
}

// A run of these stages; its promises are filled in by the caller.
Run RunOf(const Draft& draft, const StageTree& tree, const StartRun& action) {
  const Stage& first = tree.stages.at(action.stages.front());
  Run run{.id = draft.state().next.run,
          .plan = tree.plan,
          .slot = action.slot,
          .incarnation = draft.state().servers.at(action.slot.server).incarnation,
          .ordered_at = draft.now,
          .at = first.from};
  if (const auto* checkpoint = std::get_if<FromCheckpoint>(&first.source)) run.start = checkpoint->point;
  std::set<StudyId> studies;
  for (const std::size_t index : action.stages) {
    const Stage& stage = tree.stages.at(index);
    for (const TrialId trial : stage.trials) studies.insert(draft.state().trials.at(trial).study);
    if (stage.from == stage.to) continue;
    if (!run.path.empty() && run.path.back().node == stage.node) {
      run.path.back().to = stage.to;
    } else {
      run.path.push_back({stage.node, stage.from, stage.to});
    }
  }
  run.studies.assign(studies.begin(), studies.end());
  return run;
}

void Start(Draft& draft, const StageTree& tree, const StartRun& action) {
  Run run = RunOf(draft, tree, action);
  RunView view = ViewOf(run);
  view.targets = {{.step = PathEnd(view)}};
  std::vector<RunView> views = ActiveViews(draft.state(), tree.plan);
  views.push_back(view);
  auto needed = NeededTargets(draft.state().plans.at(tree.plan), views, OpenLineagesOf(draft.state(), tree.plan));
  for (const Target& target : needed[run.id]) run.promises.push_back({.target = target, .made_at = draft.now});
  if (run.promises.empty()) {
    draft.Emit(
        LogLine{LogLevel::kWarning, "a path was ordered that nothing needs plan=" + std::to_string(tree.plan.value)});
    return;
  }
  draft.Emit(LogLine{LogLevel::kInfo, "run started run=" + std::to_string(run.id.value) +
                                          " plan=" + std::to_string(run.plan.value) + " slot=" + run.slot.server + "/" +
                                          std::to_string(run.slot.index) + " steps=" + std::to_string(run.at.value) +
                                          ".." + std::to_string(PathEnd(view).value)});
  draft.touched_servers.insert(run.slot.server);
  draft.Do(AddRun{std::move(run)});
  DeriveTargets(draft, tree.plan);
}

void Preempt(Draft& draft, RunId id) {
  const auto run = draft.state().runs.find(id);
  if (run == draft.state().runs.end() || run->second.state != RunState::kTraining || run->second.preempt) return;
  draft.Do(SetPreempt{id, run->second.generation + 1});
  draft.touched_servers.insert(run->second.slot.server);
}

void HandOut(Draft& draft) {
  for (const auto& [kind, slots] : IdleSlots(draft.state())) {
    const View view = ViewFor(draft.state(), kind, slots);
    if (view.trees.empty()) continue;
    for (const Action& action : draft.policy.Decide(view, draft.now)) {
      if (const auto* start = std::get_if<StartRun>(&action)) Start(draft, view.trees.at(start->tree).tree, *start);
      if (const auto* preempt = std::get_if<PreemptRun>(&action)) Preempt(draft, preempt->run);
    }
  }
}

}  // namespace

void OrderRuns(Draft& draft) {
  for (const PlanId plan : draft.touched_plans) DeriveTargets(draft, plan);
  if (draft.schedule) HandOut(draft);
}

}  // namespace espalier::master
