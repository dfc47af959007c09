#include "master/core/views/plan_view.h"

#include <algorithm>
#include <set>

#include "master/core/state/claims.h"
#include "master/core/state/visibility.h"
#include "master/core/views/running_work.h"
#include "searchplan/plan/plan_dump.h"

namespace espalier::master {
namespace {

// What the study's lineages do to one plan, and what is done about it.
struct PlanSteps {
  std::map<PlanNodeId, std::int64_t> trial_counts;
  std::set<std::string> named;  // hyper-parameters that the study's trials name
  StepSet planned;              // up to horizons: all that the view shows
  StepSet waiting;
  StepSet running;
  std::set<Point> own_points;  // that the trials ask for, or begin nodes at
};

void EnterTrial(const SearchPlan& plan, const Trial& trial, PlanSteps& steps) {
  for (const StepRange& range : LineageRanges(plan, trial.leaf, trial.horizon)) {
    ++steps.trial_counts[range.node];
    steps.planned.Add(range);
    const PlanNode& node = plan.Node(range.node);
    if (node.parent) steps.own_points.insert({*node.parent, node.start});
  }
  for (const ClaimId id : trial.claims) steps.own_points.insert(plan.claims.at(id).point);
  for (const auto& [name, text] : trial.sequences) steps.named.insert(name);
  if (const Claim* last = LastWaitingClaim(plan, trial)) steps.waiting.AddLineage(plan, trial.leaf, last->point.step);
}

// Its path beyond its last trained step, up to its last target.
void EnterRun(const SearchPlan& plan, const Run& run, PlanSteps& steps) {
  if (!run.training() || run.path.empty()) return;
  Step reached = run.path.front().from;
  for (const PathStage& stage : run.path) {
    for (const TrainedRange& range : plan.Node(stage.node).results->trained) {
      if (range.run == run.id) reached = std::max(reached, range.to);
    }
  }
  for (const StepRange& range : PathRanges(run, reached, EndOf(run))) steps.running.Add(range);
}

// Cuts the node's planned steps where the state changes.
std::vector<StageView> StagesOf(const PlanNode& node, const PlanSteps& steps) {
  StepSet trained;
  trained.AddTrained(node);
  std::set<Step> cuts;
  for (const StepSet* set :
       std::initializer_list<const StepSet*>{&trained, &steps.running, &steps.waiting, &steps.planned}) {
    for (const StepRange& range : set->RangesOf(node.id)) cuts.insert({range.from, range.to});
  }
  const auto state_at = [&](Step step) {
    if (trained.Contains(node.id, step)) return StageState::kTrained;
    if (steps.running.Contains(node.id, step)) return StageState::kRunning;
    return steps.waiting.Contains(node.id, step) ? StageState::kWaiting : StageState::kPlanned;
  };
  std::vector<StageView> stages;
  Step from = node.start;
  for (const Step to : cuts) {
    if (to <= from) continue;
    if (!steps.planned.Contains(node.id, to)) break;
    const StageState state = state_at(to);
    if (!stages.empty() && stages.back().state == state) {
      stages.back().to = to;
    } else {
      stages.push_back({from, to, state});
    }
    from = to;
  }
  return stages;
}

PlanNodeView ViewNode(const SearchPlan& plan, const PlanNode& node, const PlanSteps& steps) {
  PlanNodeView view{.plan = plan.id,
                    .id = node.id,
                    .parent = node.parent,
                    .start = node.start,
                    .functions = ChangedFunctions(plan, node),
                    .stages = StagesOf(node, steps),
                    .trial_count = steps.trial_counts.at(node.id)};
  if (!node.parent)
    std::erase_if(view.functions, [&](const auto& entry) { return !steps.named.contains(entry.first); });
  // Others' checkpoints would tell where their trials part.
  const bool shows_all = !IsOfEveryone(plan);
  for (const auto& [step, checkpoint] : node.results->checkpoints) {
    if (!steps.planned.Contains(node.id, step)) continue;
    if (shows_all || steps.own_points.contains({node.id, step})) view.checkpoints.push_back(step);
  }
  return view;
}

void ViewNodes(const SearchPlan& plan, const PlanSteps& steps, std::vector<PlanNodeView>& views) {
  std::vector<PlanNodeId> open(plan.roots.rbegin(), plan.roots.rend());  // the next one last
  while (!open.empty()) {
    const PlanNode& node = plan.Node(open.back());
    open.pop_back();
    if (!steps.trial_counts.contains(node.id)) continue;
    views.push_back(ViewNode(plan, node, steps));
    open.insert(open.end(), node.children.rbegin(), node.children.rend());
  }
}

}  // namespace

std::string_view Name(StageState state) {
  switch (state) {
    case StageState::kTrained:
      return "trained";
    case StageState::kRunning:
      return "running";
    case StageState::kWaiting:
      return "waiting";
    case StageState::kPlanned:
      return "planned";
  }
  return "";
}

std::vector<PlanNodeView> ViewPlan(const MasterState& state, StudyId study) {
  std::map<PlanId, PlanSteps> plans;
  for (const TrialId id : state.trials_by_study.at(study)) {
    const Trial& trial = state.trials.at(id);
    EnterTrial(state.plans.at(trial.plan), trial, plans[trial.plan]);
  }
  for (const RunId id : state.active_runs) {
    const Run& run = state.runs.at(id);
    const auto steps = plans.find(run.plan);
    if (steps != plans.end()) EnterRun(state.plans.at(run.plan), run, steps->second);
  }
  std::vector<PlanNodeView> views;
  for (const auto& [id, steps] : plans) ViewNodes(state.plans.at(id), steps, views);
  return views;
}

}  // namespace espalier::master
