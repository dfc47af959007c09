// Tuners that claim all that they compare of a trial at once, and stop it as soon as it is worse than others were:
// training goes on meanwhile. What they share: which trials are open, and when another one starts.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "client/tuners/tuner_kind.h"

namespace espalier::tuners {

class StoppingTuner : public Tuner {
 public:
  std::vector<Action> Start() final;

  // A trial's claims are looked at in the order of their steps, however they were settled: one event may pass several.
  // A trial that failed or was cancelled ends there, as does one at its last claim.
  std::vector<Action> OnEvent(const Event& event) final;

  bool AsksForIdleSlots() const final { return !open_trials_; }

  std::vector<StartTrial> WholeTrials() const final;

 protected:
  // `trials`: what may be started, in this order. `open_trials`: how many are open at once; none: as many as idle slots
  // ask for.
  StoppingTuner(std::vector<StartTrial> trials, std::optional<std::size_t> open_trials);

  // The trial's claim number `claim`, from 0, came to this, be it a failure. Whether the trial stops there; of one that
  // ends there anyway the answer does not count. Called once for each claim up to the trial's end, in their order.
  virtual bool Stops(std::size_t trial, std::size_t claim, const Outcome& outcome) = 0;

 private:
  struct Place {
    std::vector<std::optional<Outcome>> outcomes;  // by claim
    std::size_t looked_at = 0;                     // of these
    bool ended = false;
  };

  void LookAt(std::size_t trial, std::vector<Action>& actions);
  bool StartNext(std::vector<Action>& actions);
  std::vector<Action> AndFinish(std::vector<Action> actions);

  std::vector<StartTrial> trials_;
  std::optional<std::size_t> open_trials_;
  std::vector<Place> places_;  // of those that were started
  std::size_t open_ = 0;
  bool finished_ = false;
};

}  // namespace espalier::tuners
