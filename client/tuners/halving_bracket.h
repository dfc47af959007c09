// One bracket of successive halving (K. Jamieson, A. Talwalkar, Non-stochastic Best Arm Identification and
// Hyperparameter Optimization, AISTATS 2016): a rung is decided as a whole once all of it is measured, so the decision
// does not depend on the order in which its claims were settled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "client/tuners/ladder.h"

namespace espalier::tuners {

// How many go on from a rung, from 0, that so many trials entered: at least 1.
using KeptCount = std::function<std::size_t(std::size_t rung, std::size_t entry_count)>;

// max(1, floor(n / reduction)), the paper's.
KeptCount KeptByReduction(std::int64_t reduction);

class HalvingBracket {
 public:
  // Its trials are those of the ladder; `first`: the index of submission of the first of them.
  HalvingBracket(Ladder ladder, std::size_t first, KeptCount kept_count)
      : ladder_(std::move(ladder)), first_(first), kept_count_(std::move(kept_count)) {}

  std::size_t trial_count() const { return ladder_.candidate_count(); }
  std::vector<StartTrial> WholeTrials() const { return ladder_.WholeTrials(); }

  // Starts all of them. REQUIRES: called once, first of all.
  std::vector<Action> Start();

  // The best of a rung go on, of equal ones the earlier submitted; failed and cancelled ones count, and do not. The
  // others are closed. What is no claim of its current rung changes nothing.
  std::vector<Action> OnSettled(const ClaimOutcome& event);

  // Nothing is decided any more.
  bool finished() const { return finished_; }
  // Those of its trials that are open when it is finished, by order of submission.
  std::vector<std::size_t> Open() const;

 private:
  struct Entry {
    std::size_t trial = 0;  // of the ladder
    Step steps;
    std::optional<Outcome> outcome;
  };

  std::vector<Entry> Survivors() const;
  void Decide(std::vector<Action>& actions);
  void Close(const std::vector<Entry>& survivors, std::vector<Action>& actions) const;
  void EnterNextRung(std::vector<Entry> survivors, std::vector<Action>& actions);

  Ladder ladder_;
  std::size_t first_;
  KeptCount kept_count_;
  std::size_t rung_ = 0;
  std::vector<Entry> entries_;  // of the current rung, by order of submission
  std::size_t pending_ = 0;     // of these, without an outcome
  bool finished_ = false;
};

}  // namespace espalier::tuners
