#include "client/tuners/stopping.h"

#include <algorithm>

namespace espalier::tuners {
namespace {

// Number of the trial's claim at these steps; its claims' count, if there is none.
std::size_t ClaimAt(const StartTrial& trial, Step steps) {
  if (steps == trial.steps) return 0;
  return static_cast<std::size_t>(std::find(trial.more.begin(), trial.more.end(), steps) - trial.more.begin()) + 1;
}

}  // namespace

StoppingTuner::StoppingTuner(std::vector<StartTrial> trials, std::optional<std::size_t> open_trials)
    : trials_(std::move(trials)), open_trials_(open_trials) {}

std::vector<Action> StoppingTuner::Start() { return AndFinish({}); }

std::vector<Action> StoppingTuner::OnEvent(const Event& event) {
  std::vector<Action> actions;
  if (const auto* settled = std::get_if<ClaimOutcome>(&event)) {
    if (settled->trial >= places_.size() || places_[settled->trial].ended) return {};
    Place& place = places_[settled->trial];
    const std::size_t claim = ClaimAt(trials_[settled->trial], settled->steps);
    if (claim >= place.outcomes.size() || place.outcomes[claim]) return {};
    place.outcomes[claim] = settled->outcome;
    LookAt(settled->trial, actions);
  } else if (!open_trials_) {
    StartNext(actions);
  }
  return AndFinish(std::move(actions));
}

std::vector<StartTrial> StoppingTuner::WholeTrials() const {
  std::vector<StartTrial> whole;
  for (const StartTrial& trial : trials_) whole.push_back({trial.sequences, trial.horizon, trial.horizon});
  return whole;
}

void StoppingTuner::LookAt(std::size_t trial, std::vector<Action>& actions) {
  Place& place = places_[trial];
  while (!place.ended && place.outcomes[place.looked_at]) {
    const std::size_t claim = place.looked_at++;
    const Outcome& outcome = *place.outcomes[claim];
    const bool stops = Stops(trial, claim, outcome);
    const bool is_last = place.looked_at == place.outcomes.size();
    place.ended = is_last || stops || !std::holds_alternative<Measured>(outcome);
    if (!place.ended) continue;
    --open_;
    if (std::holds_alternative<Cancelled>(outcome)) return;  // closed already
    actions.push_back(is_last ? Action(CloseTrial{trial}) : Action(CancelTrial{trial}));
  }
}

bool StoppingTuner::StartNext(std::vector<Action>& actions) {
  if (places_.size() == trials_.size()) return false;
  const StartTrial& next = trials_[places_.size()];
  actions.emplace_back(next);
  places_.push_back({.outcomes = std::vector<std::optional<Outcome>>(1 + next.more.size())});
  ++open_;
  return true;
}

// Starts what is to be started without being asked.
std::vector<Action> StoppingTuner::AndFinish(std::vector<Action> actions) {
  while (open_trials_ && open_ < *open_trials_ && StartNext(actions)) {
  }
  if (finished_ || open_ > 0 || places_.size() < trials_.size()) return actions;
  finished_ = true;
  actions.emplace_back(FinishStudy{});
  return actions;
}

}  // namespace espalier::tuners
