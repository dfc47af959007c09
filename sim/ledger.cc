#include "sim/ledger.h"

#include "searchplan/plan/record_result.h"

namespace espalier::sim {
namespace {

std::string Text(Point point) {
  return "node " + std::to_string(point.node.value) + " step " + std::to_string(point.step.value);
}

}  // namespace

void Ledger::Load(const master::MasterState& state) {
  nodes_.clear();
  promised_.clear();
  for (const auto& [plan_id, plan] : state.plans) {
    for (const auto& [id, node] : plan.nodes) {
      for (const auto& [step, checkpoint] : node.results->checkpoints) nodes_[id].checkpoints[step] = checkpoint.file;
    }
  }
  for (const auto& [id, run] : state.runs) {
    for (const auto& [promise_id, promise] : run.promises) {
      if (promise.state == master::PromiseState::kOpen) Promise(run, promise);
    }
  }
}

void Ledger::Promise(const master::Run& run, const master::Promise& promise) {
  if (promise.owed != Owed::kState) return;
  const Point point = master::PointOf(run, promise.step);
  promised_[promise.id] = point;
  nodes_[point.node].promises[point.step].insert(promise.id);
}

void Ledger::Settle(const master::MasterState& state, const master::SettlePromise& settled) {
  const PromiseId promise = settled.promise;
  const auto point = promised_.find(promise);
  if (point == promised_.end()) return;
  if (settled.state == master::PromiseState::kWithdrawn) {
    withdrawn_.emplace_back(state.runs.at(settled.run).plan, point->second);
  }
  auto& promises = nodes_[point->second.node].promises;
  promises[point->second.step].erase(promise);
  if (promises[point->second.step].empty()) promises.erase(point->second.step);
  promised_.erase(point);
}

std::string Ledger::WasteOf(const master::Run& run) const {
  for (const PathStage& stage : run.path) {
    const auto found = nodes_.find(stage.node);
    if (found == nodes_.end()) continue;
    const NodeStates& states = found->second;
    const auto checkpoint = states.checkpoints.upper_bound(stage.from);
    const auto promise = states.promises.upper_bound(stage.from);
    const std::string who = "nothing is trained that a checkpoint or a promise serves: run " +
                            std::to_string(run.id.value) + " would pass ";
    if (checkpoint != states.checkpoints.end() && checkpoint->first <= stage.to) {
      return who + "a checkpoint at " + Text({stage.node, checkpoint->first});
    }
    if (promise != states.promises.end() && promise->first <= stage.to) {
      return who + "another run's promise at " + Text({stage.node, promise->first});
    }
  }
  return {};
}

// A study is finished only when the states at its claims' points are kept or lost (law 8).
std::string Ledger::FindAwaited(const master::MasterState& state, StudyId study) const {
  for (const TrialId trial : state.trials_by_study.at(study)) {
    const SearchPlan& plan = state.plans.at(state.trials.at(trial).plan);
    for (const ClaimId id : state.trials.at(trial).claims) {
      const Claim& claim = plan.claims.at(id);
      const auto node = nodes_.find(claim.point.node);
      if (claim.state != ClaimState::kDone || node == nodes_.end()) continue;
      if (!node->second.promises.contains(claim.point.step)) continue;
      return "a study is finished only when its claims' states are kept or lost: claim " + std::to_string(id.value);
    }
  }
  return {};
}

void Ledger::EnterCheckpoint(const PlanChange& change, PlanId plan) {
  if (const auto* set = std::get_if<SetCheckpoint>(&change)) {
    nodes_[set->point.node].checkpoints[set->point.step] = set->checkpoint.file;
  }
  const auto* drop = std::get_if<DropCheckpoint>(&change);
  if (drop == nullptr) return;
  dropped_.emplace_back(plan, drop->point);
  auto& checkpoints = nodes_[drop->point.node].checkpoints;
  const auto stands = checkpoints.find(drop->point.step);
  if (stands != checkpoints.end() && stands->second == drop->file) checkpoints.erase(stands);
}

std::string Ledger::Enter(const master::MasterState& state, const master::StateChange& change) {
  if (const auto* added = std::get_if<master::AddRun>(&change)) {
    const std::string waste = WasteOf(added->run);
    for (const auto& [id, promise] : added->run.promises) Promise(added->run, promise);
    return waste;
  }
  if (const auto* made = std::get_if<master::MakePromise>(&change)) Promise(state.runs.at(made->run), made->promise);
  if (const auto* settled = std::get_if<master::SettlePromise>(&change)) Settle(state, *settled);
  if (const auto* finished = std::get_if<master::FinishStudy>(&change)) return FindAwaited(state, finished->study);
  if (const auto* plan = std::get_if<master::ChangePlan>(&change)) EnterCheckpoint(plan->change, plan->plan);
  return {};
}

std::string Ledger::Enter(const master::MasterState& state, const master::StateEdit& edit,
                          const std::set<Point>& said_lost) {
  dropped_.clear();
  withdrawn_.clear();
  std::string wrong;
  for (const master::StateChange& change : edit) {
    std::string its = Enter(state, change);
    if (wrong.empty()) wrong = std::move(its);
  }
  for (const auto& [plan, point] : dropped_) {
    const bool stands = state.plans.at(plan).FindCheckpoint(point) != nullptr;
    if (wrong.empty() && stands != nodes_[point.node].checkpoints.contains(point.step)) {
      wrong = "what is said of a file touches that file alone: " + Text(point);
    }
  }
  if (wrong.empty()) wrong = FindNeededFile(state, said_lost);
  return wrong.empty() ? FindNeeded(state) : wrong;
}

bool Ledger::Needs(const SearchPlan& plan, const Claim& claim, Point point) const {
  const Point wanted = WaitsAt(plan, claim);
  Step below = wanted.step;
  for (std::optional<PlanNodeId> id = wanted.node; id; id = plan.Node(*id).parent) {
    const bool has_point = *id == point.node && point.step <= below;
    const auto states = nodes_.find(*id);
    if (states != nodes_.end()) {
      const auto stands = [&](const auto& steps) {
        const auto first = steps.lower_bound(has_point ? point.step : Step{0});
        return first != steps.end() && first->first <= below;
      };
      if (stands(states->second.checkpoints) || stands(states->second.promises)) return false;
    }
    if (has_point) return true;
    below = plan.Node(*id).start;
  }
  return false;
}

std::string Ledger::FindNeeded(const master::MasterState& state) const {
  for (const auto& [plan_id, point] : withdrawn_) {
    const SearchPlan& plan = state.plans.at(plan_id);
    for (const ClaimId claim : plan.waiting) {
      if (!Needs(plan, plan.claims.at(claim), point)) continue;
      return "what a claim needs is not withdrawn: claim " + std::to_string(claim.value) + ", " + Text(point);
    }
  }
  return {};
}

std::string Ledger::FindNeededFile(const master::MasterState& state, const std::set<Point>& said_lost) const {
  for (const auto& [plan_id, point] : dropped_) {
    if (said_lost.contains(point)) continue;
    const SearchPlan& plan = state.plans.at(plan_id);
    for (const ClaimId claim : plan.waiting) {
      if (!Needs(plan, plan.claims.at(claim), point)) continue;
      return "what a claim's training starts from is not evicted: claim " + std::to_string(claim.value) + ", " +
             Text(point);
    }
  }
  return {};
}

}  // namespace espalier::sim
