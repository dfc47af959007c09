// What a database refuses, asked of memory: whether a change fits a state, where Apply would stop the process.
#pragma once

#include <algorithm>

#include "master/core/state/state_edit.h"

namespace espalier::master {

struct FitsState {
  const MasterState& state;

  bool HasZeroByte(const std::string& text) const { return text.find('\0') != std::string::npos; }

  bool operator()(const AddStudy& change) const {
    return !state.studies.contains(change.study.id) && !HasZeroByte(change.study.specification.definition);
  }
  bool operator()(const CloseStudy& change) const { return Runs(change.study); }
  bool operator()(const SetKeep& change) const { return state.studies.contains(change.study); }
  bool operator()(const SetWeight& change) const {
    return change.weight > 0 && (!change.team.empty() || state.studies.contains(change.study));
  }
  bool operator()(const FinishStudy& change) const { return Runs(change.study); }
  bool operator()(const RetireStudy& change) const {
    return state.studies.contains(change.study) && !Runs(change.study) && !IsRetired(state, change.study);
  }
  bool operator()(const AddOffer& change) const { return !state.offers.contains(DigestOf(change.offer.offer)); }
  bool operator()(const AddPlan& change) const {
    return !state.plans.contains(change.plan) && !state.plan_by_identity.contains(DigestOf(change.identity));
  }
  bool operator()(const AddTrial& change) const {
    return !state.trials.contains(change.trial.id) && state.studies.contains(change.trial.study) &&
           state.plans.contains(change.trial.plan);
  }
  bool operator()(const CloseTrial& change) const {
    const auto trial = state.trials.find(change.trial);
    return trial != state.trials.end() && !trial->second.closed;
  }
  bool operator()(const AddStudyEvent& change) const {
    const auto events = state.events.find(change.study);
    return events != state.events.end() && change.number == static_cast<std::int64_t>(events->second.size()) + 1;
  }
  bool operator()(const AddTrainingMetrics& change) const {
    const auto plan = state.plans.find(change.plan);
    return plan != state.plans.end() && plan->second.nodes.find(change.node) != plan->second.nodes.end();
  }
  bool operator()(const AddRun& change) const { return !state.runs.contains(change.run.id); }
  bool operator()(const MakePromise& change) const {
    if (!state.active_runs.contains(change.run)) return false;
    return state.runs.at(change.run).FindOpen(change.promise.step, change.promise.owed) == nullptr;
  }
  bool operator()(const SettlePromise& change) const {
    if (!state.active_runs.contains(change.run)) return false;
    const std::map<PromiseId, Promise>& promises = state.runs.at(change.run).promises;
    const auto promise = promises.find(change.promise);
    return promise != promises.end() && promise->second.state == PromiseState::kOpen;
  }
  bool operator()(const SetTerms& change) const {
    return state.active_runs.contains(change.run) && state.runs.at(change.run).generation < change.generation;
  }
  bool operator()(const SetRunFailed& change) const { return state.active_runs.contains(change.run); }
  bool operator()(const ChargeRun& change) const { return state.active_runs.contains(change.run); }
  bool operator()(const SetRunState& change) const { return state.active_runs.contains(change.run); }
  bool operator()(const AddRequest& change) const { return !state.requests.contains(change.key); }
  bool operator()(const SetUser& change) const {
    if (change.user.token_sha256.empty()) return true;
    return std::none_of(state.users.begin(), state.users.end(), [&](const auto& entry) {
      return entry.first != change.user.name && entry.second.token_sha256 == change.user.token_sha256;
    });
  }
  bool operator()(const ChangePlan& change) const {
    const auto plan = state.plans.find(change.plan);
    if (plan == state.plans.end()) return false;
    if (const auto* node = std::get_if<AddPlanNode>(&change.change)) return !plan->second.nodes.contains(node->id);
    if (const auto* claim = std::get_if<AddClaim>(&change.change))
      return !state.plan_by_claim.contains(claim->claim.id);
    if (const auto* claim = std::get_if<SettleClaim>(&change.change))
      return plan->second.waiting.contains(claim->claim);
    return true;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return true;
  }

  bool Runs(StudyId id) const {
    const auto study = state.studies.find(id);
    return study != state.studies.end() && !study->second.finished_at;
  }
};

inline bool Fits(const MasterState& state, const StateChange& change) { return std::visit(FitsState{state}, change); }

}  // namespace espalier::master
