#include "sim/tuner_user.h"

#include <limits>

#include "client/tuners/tuner.h"

namespace espalier::sim {
namespace {

std::optional<master::SubmitCall> CallOf(const std::vector<Action>& actions, const std::vector<TrialId>& trials) {
  if (actions.empty()) return std::nullopt;
  master::SubmitCall call;
  for (const Action& action : actions) {
    if (const auto* start = std::get_if<StartTrial>(&action)) {
      call.new_trials.push_back({start->sequences, start->steps, start->horizon});
    }
    if (const auto* more = std::get_if<ContinueTrial>(&action)) {
      call.claims.push_back({trials.at(more->trial), more->steps});
    }
    if (const auto* close = std::get_if<CloseTrial>(&action)) call.close.push_back(trials.at(close->trial));
    if (const auto* cancel = std::get_if<CancelTrial>(&action)) call.cancel.push_back(trials.at(cancel->trial));
    if (std::holds_alternative<FinishStudy>(action)) call.finish = true;
  }
  return call;
}

Outcome OutcomeOf(const master::ClaimSettled& settled, const std::string& name, Goal goal) {
  if (settled.state == ClaimState::kCancelled) return Cancelled{};
  if (settled.state == ClaimState::kFailed) return Failed{};
  const auto metric = settled.metrics.find(name);
  if (metric == settled.metrics.end()) return Measured{std::numeric_limits<double>::quiet_NaN()};
  return Measured{goal == Goal::kMaximize ? -metric->second : metric->second};
}

}  // namespace

std::optional<master::SubmitCall> TunerUser::Begin() { return CallOf(tuner_.Start(), trials_); }

std::optional<master::SubmitCall> TunerUser::OnEvent(const master::StudyEvent& event) {
  if (const auto* submitted = std::get_if<master::TrialSubmitted>(&event)) {
    index_of_.emplace(submitted->trial, trials_.size());
    trials_.push_back(submitted->trial);
  }
  const auto* settled = std::get_if<master::ClaimSettled>(&event);
  if (settled == nullptr) return std::nullopt;
  const Outcome outcome = OutcomeOf(*settled, metric_, goal_);
  return CallOf(tuner_.OnSettled({index_of_.at(settled->trial), settled->step, outcome}), trials_);
}

}  // namespace espalier::sim
