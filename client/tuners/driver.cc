#include "client/tuners/driver.h"

#include <limits>

namespace espalier::tuners {

Driver::Driver(Tuner& tuner, std::string metric, Goal goal) : tuner_(tuner), metric_(std::move(metric)), goal_(goal) {
  std::vector<Action> actions = tuner_.Start();
  if (!actions.empty()) Ask(std::move(actions));
}

void Driver::OnEvent(const StudyEvent& event) {
  if (const auto* submitted = std::get_if<TrialSubmitted>(&event)) {
    index_of_.emplace(submitted->trial, trials_.size());
    trials_.push_back(submitted->trial);
  } else if (const auto* settled = std::get_if<ClaimSettled>(&event)) {
    OnSettled(*settled);
  } else if (const auto* taken = std::get_if<BatchTaken>(&event)) {
    stored_count_ = std::max(stored_count_, taken->number + 1);
  } else if (std::holds_alternative<SlotIdle>(event)) {
    if (!tuner_finished_) Ask(tuner_.OnEvent(SlotIdle{}));
  } else if (std::holds_alternative<StudyFinished>(event)) {
    finished_ = true;
  }
}

void Driver::OnSettled(const ClaimSettled& settled) {
  const auto trial = index_of_.find(settled.trial);
  if (trial == index_of_.end() || unsettled_.erase({trial->second, settled.step}) == 0) return;
  std::vector<Action> actions = tuner_.OnEvent(ClaimOutcome{trial->second, settled.step, OutcomeOf(settled)});
  if (!actions.empty()) Ask(std::move(actions));
}

std::optional<NumberedBatch> Driver::Next() {
  while (!asked_.empty() && asked_.front().number < stored_count_) asked_.pop_front();
  if (asked_.empty() || finished_) return std::nullopt;
  std::optional<Batch> batch = InIds(asked_.front().actions);
  if (!batch) return std::nullopt;
  NumberedBatch next{asked_.front().number, *std::move(batch)};
  asked_.pop_front();
  return next;
}

bool Driver::WaitsForNothing() const {
  return !finished_ && !tuner_finished_ && asked_.empty() && unsettled_.empty() && !tuner_.AsksForIdleSlots();
}

std::optional<std::size_t> Driver::IndexOf(TrialId trial) const {
  const auto index = index_of_.find(trial);
  return index == index_of_.end() ? std::nullopt : std::optional(index->second);
}

void Driver::Ask(std::vector<Action> actions) {
  for (const Action& action : actions) Count(action);
  asked_.push_back({batch_count_++, std::move(actions)});
}

void Driver::Count(const Action& action) {
  if (const auto* start = std::get_if<StartTrial>(&action)) {
    unsettled_.emplace(started_count_, start->steps);
    for (const Step more : start->more) unsettled_.emplace(started_count_, more);
    ++started_count_;
  }
  if (const auto* more = std::get_if<ContinueTrial>(&action)) unsettled_.emplace(more->trial, more->steps);
  tuner_finished_ |= std::holds_alternative<FinishStudy>(action);
}

std::optional<Batch> Driver::InIds(const std::vector<Action>& actions) const {
  Batch batch;
  bool known = true;
  const auto id = [&](std::size_t trial) {
    known = known && trial < trials_.size();
    return trial < trials_.size() ? trials_[trial] : TrialId{};
  };
  for (const Action& action : actions) {
    if (const auto* start = std::get_if<StartTrial>(&action)) batch.new_trials.push_back(*start);
    if (const auto* more = std::get_if<ContinueTrial>(&action)) batch.claims.push_back({id(more->trial), more->steps});
    if (const auto* close = std::get_if<CloseTrial>(&action)) batch.close.push_back(id(close->trial));
    if (const auto* cancel = std::get_if<CancelTrial>(&action)) batch.cancel.push_back(id(cancel->trial));
    batch.finish |= std::holds_alternative<FinishStudy>(action);
  }
  return known ? std::optional(std::move(batch)) : std::nullopt;
}

Outcome Driver::OutcomeOf(const ClaimSettled& settled) const {
  if (settled.state == ClaimState::kFailed) return Failed{};
  if (settled.state == ClaimState::kCancelled) return Cancelled{};
  const auto metric = settled.metrics.find(metric_);
  if (metric == settled.metrics.end()) return Measured{std::numeric_limits<double>::quiet_NaN()};
  return Measured{goal_ == Goal::kMaximize ? -metric->second : metric->second};
}

}  // namespace espalier::tuners
