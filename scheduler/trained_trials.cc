#include "scheduler/trained_trials.h"

#include <algorithm>

namespace espalier {

void TrainedTrials::Begin(const RunView& run) {
  runs_.insert(run.id);
  running_.try_emplace(run.id, Running{.plan = run.plan, .path = run.path});
  runs_of_plan_[run.plan].insert(run.id);
}

void TrainedTrials::Join(RunId id, const PolicyTrial& trial, const View& view) {
  std::map<PlanNodeId, Step> way;
  for (const Point& last : view.WayTo(trial.plan, trial.furthest)) way.emplace(last.node, last.step);
  Running& running = running_.at(id);
  Step until{0};
  for (const PathStage& stage : running.path) {
    const auto last = way.find(stage.node);
    if (last == way.end() || last->second <= stage.from) break;
    until = std::min(stage.to, last->second);
  }
  if (until == Step{0}) return;
  running.until.insert_or_assign(trial.id, until);
  runs_of_trial_[trial.id].insert(id);
}

void TrainedTrials::JoinAll(const PolicyTrial& trial, const View& view) {
  const auto runs = runs_of_plan_.find(trial.plan);
  if (runs == runs_of_plan_.end()) return;
  for (const RunId run : runs->second) Join(run, trial, view);
}

void TrainedTrials::Stop(RunId id) {
  const auto stopped = running_.find(id);
  if (stopped == running_.end()) return;
  for (const auto& [trial, until] : stopped->second.until) {
    const auto runs = runs_of_trial_.find(trial);
    runs->second.erase(id);
    if (runs->second.empty()) runs_of_trial_.erase(runs);
  }
  const auto of_plan = runs_of_plan_.find(stopped->second.plan);
  of_plan->second.erase(id);
  if (of_plan->second.empty()) runs_of_plan_.erase(of_plan);
  runs_.erase(id);
  running_.erase(stopped);
}

void TrainedTrials::Forget(TrialId trial) {
  const auto runs = runs_of_trial_.find(trial);
  if (runs == runs_of_trial_.end()) return;
  for (const RunId run : runs->second) running_.at(run).until.erase(trial);
  runs_of_trial_.erase(runs);
}

std::vector<RunId> TrainedTrials::RunsThrough(PlanId plan, Point point) const {
  std::vector<RunId> through;
  const auto runs = runs_of_plan_.find(plan);
  if (runs == runs_of_plan_.end()) return through;
  for (const RunId run : runs->second) {
    const bool is_on_path = std::ranges::any_of(running_.at(run).path, [&](const PathStage& stage) {
      return stage.node == point.node && stage.from < point.step && point.step <= stage.to;
    });
    if (is_on_path) through.push_back(run);
  }
  return through;
}

std::vector<TrialId> TrainedTrials::TrialsOf(RunId run, const View& view) const {
  std::vector<TrialId> trials;
  const std::optional<Step> at = view.StepOf(run);
  const auto running = running_.find(run);
  if (!at || running == running_.end()) return trials;
  for (const auto& [trial, until] : running->second.until) {
    if (*at < until && view.Waits(trial)) trials.push_back(trial);
  }
  return trials;
}

bool TrainedTrials::IsTrained(TrialId trial, const View& view) const {
  const auto runs = runs_of_trial_.find(trial);
  if (runs == runs_of_trial_.end()) return false;
  return std::ranges::any_of(runs->second, [&](RunId run) {
    const std::optional<Step> at = view.StepOf(run);
    return at && *at < running_.at(run).until.at(trial);
  });
}

void TrialWays::Add(const PolicyTrial& trial, const View& view) {
  for (const Point& last : view.WayTo(trial.plan, trial.furthest)) {
    last_[{trial.plan, last.node}].insert_or_assign(trial.id, last.step);
  }
}

void TrialWays::Forget(const PolicyTrial& trial) {
  for (auto node = last_.lower_bound({trial.plan, {}}); node != last_.end() && node->first.first == trial.plan;) {
    node->second.erase(trial.id);
    node = node->second.empty() ? last_.erase(node) : std::next(node);
  }
}

bool TrialWays::AnyIn(PlanId plan) const {
  const auto node = last_.lower_bound({plan, {}});
  return node != last_.end() && node->first.first == plan;
}

std::vector<TrialId> TrialWays::Through(PlanId plan, Point point) const {
  std::vector<TrialId> trials;
  const auto node = last_.find({plan, point.node});
  if (node == last_.end()) return trials;
  for (const auto& [trial, last] : node->second) {
    if (point.step <= last) trials.push_back(trial);
  }
  return trials;
}

std::vector<PolicyTrial> WaitingFor(const RunView& run, const View& view) {
  const Step next{std::max(run.at, run.path.front().from).value + 1};
  if (next > run.path.back().to) return {};
  return view.WaitingFrom(run.plan, PointOnPath(run, next));
}

}  // namespace espalier
