#include "sim/ledger.h"

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
      for (const auto& [step, checkpoint] : node.results->checkpoints) nodes_[id].checkpoints.insert(step);
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

void Ledger::Unpromise(PromiseId promise) {
  const auto point = promised_.find(promise);
  if (point == promised_.end()) return;
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
    const std::string who = "run " + std::to_string(run.id.value) + " is ordered to train past ";
    if (checkpoint != states.checkpoints.end() && *checkpoint <= stage.to) {
      return who + "a checkpoint at " + Text({stage.node, *checkpoint});
    }
    if (promise != states.promises.end() && promise->first <= stage.to) {
      return who + "another run's promise at " + Text({stage.node, promise->first});
    }
  }
  return {};
}

std::string Ledger::Enter(const master::MasterState& state, const master::StateChange& change) {
  if (const auto* added = std::get_if<master::AddRun>(&change)) {
    const std::string waste = WasteOf(added->run);
    for (const auto& [id, promise] : added->run.promises) Promise(added->run, promise);
    return waste;
  }
  if (const auto* made = std::get_if<master::MakePromise>(&change)) Promise(state.runs.at(made->run), made->promise);
  if (const auto* settled = std::get_if<master::SettlePromise>(&change)) Unpromise(settled->promise);
  const auto* plan = std::get_if<master::ChangePlan>(&change);
  if (plan == nullptr) return {};
  if (const auto* set = std::get_if<SetCheckpoint>(&plan->change)) {
    nodes_[set->point.node].checkpoints.insert(set->point.step);
  }
  if (const auto* drop = std::get_if<DropCheckpoint>(&plan->change)) {
    // Only if no other file had taken its place: the state after the event says so.
    if (state.plans.at(plan->plan).FindCheckpoint(drop->point) == nullptr) {
      nodes_[drop->point.node].checkpoints.erase(drop->point.step);
    }
  }
  return {};
}

}  // namespace espalier::sim
