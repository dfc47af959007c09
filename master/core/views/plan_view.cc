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
  StepSet reused;
  std::map<PlanNodeId, std::vector<std::pair<StepRange, const Run*>>> running;
  std::map<Point, std::map<ClaimState, std::int64_t>> claims;
  std::set<Point> own_points;  // that the trials ask for, or begin nodes at
};

void EnterTrial(const SearchPlan& plan, const Trial& trial, PlanSteps& steps) {
  for (const StepRange& range : LineageRanges(plan, trial.leaf, trial.horizon)) {
    ++steps.trial_counts[range.node];
    steps.planned.Add(range);
    const PlanNode& node = plan.Node(range.node);
    steps.reused.AddTakenOver(plan, node);
    if (node.parent) steps.own_points.insert({*node.parent, node.start});
  }
  for (const ClaimId id : trial.claims) {
    const Claim& claim = plan.claims.at(id);
    steps.own_points.insert(claim.point);
    ++steps.claims[claim.point][claim.state];
  }
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
  for (const StepRange& range : PathRanges(run, reached, EndOf(run)))
    steps.running[range.node].emplace_back(range, &run);
}

// Cuts a node's planned steps where their state, or who trains them, changes.
class NodeStages {
 public:
  NodeStages(const MasterState& state, const PlanNode& node, const PlanSteps& steps, const std::string& team)
      : state_(state), node_(node), steps_(steps), team_(team) {
    trained_.AddTrained(node);
    if (const auto running = steps.running.find(node.id); running != steps.running.end()) running_ = running->second;
  }

  std::vector<StageView> Cut() const {
    std::set<Step> cuts;
    for (const StepSet* set : {&trained_, &steps_.reused, &steps_.waiting, &steps_.planned}) {
      for (const StepRange& range : set->RangesOf(node_.id)) cuts.insert({range.from, range.to});
    }
    for (const auto& [range, run] : running_) cuts.insert({range.from, range.to});
    std::vector<StageView> stages;
    Step from = node_.start;
    for (const Step to : cuts) {
      if (to <= from) continue;
      if (!steps_.planned.Contains(node_.id, to)) break;
      StageView stage = StageTo(from, to);
      if (!stages.empty() && stages.back().state == stage.state && stages.back().placed_on == stage.placed_on) {
        stages.back().to = to;
      } else {
        stages.push_back(std::move(stage));
      }
      from = to;
    }
    return stages;
  }

 private:
  StageView StageTo(Step from, Step to) const {
    if (trained_.Contains(node_.id, to)) return {from, to, StageState::kTrained, {}};
    if (steps_.reused.Contains(node_.id, to)) return {from, to, StageState::kReused, {}};
    for (const auto& [range, run] : running_) {
      if (range.from < to && to <= range.to) {
        return {from, to, StageState::kRunning, PlaceOf(state_, *run, range.to, team_)};
      }
    }
    return {from, to, steps_.waiting.Contains(node_.id, to) ? StageState::kWaiting : StageState::kPlanned, {}};
  }

  const MasterState& state_;
  const PlanNode& node_;
  const PlanSteps& steps_;
  const std::string& team_;
  StepSet trained_;
  std::vector<std::pair<StepRange, const Run*>> running_;
};

PlanNodeView ViewNode(const MasterState& state, const SearchPlan& plan, const PlanNode& node, const PlanSteps& steps,
                      const std::string& team) {
  PlanNodeView view{.plan = plan.id,
                    .id = node.id,
                    .parent = node.parent,
                    .start = node.start,
                    .functions = ChangedFunctions(plan, node),
                    .stages = NodeStages(state, node, steps, team).Cut(),
                    .trial_count = steps.trial_counts.at(node.id),
                    .costs = CostsOf(state, plan, node)};
  if (!node.parent)
    std::erase_if(view.functions, [&](const auto& entry) { return !steps.named.contains(entry.first); });
  // Others' checkpoints would tell where their trials part.
  const bool shows_all = !IsOfEveryone(plan);
  for (const auto& [step, checkpoint] : node.results->checkpoints) {
    if (!steps.planned.Contains(node.id, step)) continue;
    if (shows_all || steps.own_points.contains({node.id, step})) view.checkpoints.push_back(step);
  }
  for (auto at = steps.claims.lower_bound({node.id, Step{}}); at != steps.claims.end() && at->first.node == node.id;
       ++at) {
    for (const auto& [claim_state, count] : at->second) view.claims[{at->first.step, claim_state}] = count;
  }
  return view;
}

void ViewNodes(const MasterState& state, const SearchPlan& plan, const PlanSteps& steps, const std::string& team,
               std::vector<PlanNodeView>& views) {
  std::vector<PlanNodeId> open(plan.roots.rbegin(), plan.roots.rend());  // the next one last
  while (!open.empty()) {
    const PlanNode& node = plan.Node(open.back());
    open.pop_back();
    if (!steps.trial_counts.contains(node.id)) continue;
    views.push_back(ViewNode(state, plan, node, steps, team));
    open.insert(open.end(), node.children.rbegin(), node.children.rend());
  }
}

}  // namespace

std::string_view Name(StageState state) {
  switch (state) {
    case StageState::kTrained:
      return "trained";
    case StageState::kReused:
      return "reused";
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
  const std::string& team = state.studies.at(study).team;
  for (const auto& [id, steps] : plans) ViewNodes(state, state.plans.at(id), steps, team, views);
  return views;
}

}  // namespace espalier::master
