#include "sim/tuner_user.h"

#include <limits>

#include "client/tuners/tuner.h"

namespace espalier::sim {
namespace {

std::optional<master::SubmitBatch> BatchOf(const std::vector<tuners::Action>& actions,
                                           const std::vector<TrialId>& trials) {
  if (actions.empty()) return std::nullopt;
  master::SubmitBatch batch;
  for (const tuners::Action& action : actions) {
    if (const auto* start = std::get_if<tuners::StartTrial>(&action)) {
      batch.new_trials.push_back({start->sequences, start->steps, start->horizon});
    }
    if (const auto* more = std::get_if<tuners::ContinueTrial>(&action)) {
      batch.claims.push_back({trials.at(more->trial), more->steps});
    }
    if (const auto* close = std::get_if<tuners::CloseTrial>(&action)) batch.close.push_back(trials.at(close->trial));
    if (const auto* cancel = std::get_if<tuners::CancelTrial>(&action))
      batch.cancel.push_back(trials.at(cancel->trial));
    if (std::holds_alternative<tuners::FinishStudy>(action)) batch.finish = true;
  }
  return batch;
}

tuners::Outcome OutcomeOf(const master::ClaimSettled& settled, const std::string& name, Goal goal) {
  if (settled.state == ClaimState::kCancelled) return tuners::Cancelled{};
  if (settled.state == ClaimState::kFailed) return tuners::Failed{};
  const auto metric = settled.metrics.find(name);
  if (metric == settled.metrics.end()) return tuners::Measured{std::numeric_limits<double>::quiet_NaN()};
  return tuners::Measured{goal == Goal::kMaximize ? -metric->second : metric->second};
}

}  // namespace

std::optional<master::SubmitBatch> TunerUser::Begin() { return BatchOf(tuner_.Start(), trials_); }

std::optional<master::SubmitBatch> TunerUser::OnEvent(const master::StudyEvent& event) {
  if (const auto* submitted = std::get_if<master::TrialSubmitted>(&event)) {
    index_of_.emplace(submitted->trial, trials_.size());
    trials_.push_back(submitted->trial);
  }
  const auto* settled = std::get_if<master::ClaimSettled>(&event);
  if (settled == nullptr) return std::nullopt;
  const tuners::Outcome outcome = OutcomeOf(*settled, metric_, goal_);
  return BatchOf(tuner_.OnSettled({index_of_.at(settled->trial), settled->step, outcome}), trials_);
}

}  // namespace espalier::sim
