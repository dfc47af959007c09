// A tuner: which trials to start, how far to take them, and when to stop. Events in, actions out.
// Trials are known by their index of submission in the study, from 0. What a tuner does is a function of the events it
// was given, in their order, and of nothing else: so a study that is replayed from its first event takes the same
// actions. Pure: no I/O, clock, thread or randomness; not thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/study_event.h"
#include "base/units.h"
#include "client/space/trial_text.h"

namespace espalier::tuners {

// A trial that the user wants tried.
struct Candidate {
  TrialText sequences{};
  std::optional<Step> steps{};  // its own horizon, where the user gave one
};

// Submits a new trial; it gets the next index.
struct StartTrial {
  TrialText sequences;
  Step steps;                // the first claim
  Step horizon;              // the most steps that it may ever be asked for
  std::vector<Step> more{};  // claimed at once, too: each later than the one before, the last at most the horizon
  friend bool operator==(const StartTrial&, const StartTrial&) = default;
};

// Asks for an open trial's metric at a later step.
struct ContinueTrial {
  std::size_t trial = 0;
  Step steps;
  friend bool operator==(const ContinueTrial&, const ContinueTrial&) = default;
};

// The trial will not be asked for more.
struct CloseTrial {
  std::size_t trial = 0;
  friend bool operator==(const CloseTrial&, const CloseTrial&) = default;
};

// As closing, and its waiting claims are withdrawn.
struct CancelTrial {
  std::size_t trial = 0;
  friend bool operator==(const CancelTrial&, const CancelTrial&) = default;
};

// Closes every trial: the tuner has decided all that it will decide.
struct FinishStudy {
  friend bool operator==(const FinishStudy&, const FinishStudy&) = default;
};

using Action = std::variant<StartTrial, ContinueTrial, CloseTrial, CancelTrial, FinishStudy>;

// How a claim was settled. What is measured on the way is no event of another kind: a tuner that goes by a trial's
// metric at more steps claims it there, too (StartTrial::more). So it is stored, comes once and in order, and is there
// at replay.
struct Measured {
  double value = 0;  // lower is better: a metric to be maximized comes negated; may be NaN
};
struct Failed {};
struct Cancelled {};
using Outcome = std::variant<Measured, Failed, Cancelled>;

struct ClaimOutcome {
  std::size_t trial = 0;
  Step steps;
  Outcome outcome;
};

// What a tuner goes by. SlotIdle comes to tuners that ask for it (AsksForIdleSlots), and not again before they
// answered; after the answer that there is nothing to do, not before another claim is settled.
using Event = std::variant<ClaimOutcome, SlotIdle>;

class Tuner {
 public:
  virtual ~Tuner() = default;

  // The first actions. REQUIRES: called once, before any event.
  virtual std::vector<Action> Start() = 0;

  // What follows from one more event; often nothing. The same claim is settled once. After FinishStudy events are
  // ignored.
  virtual std::vector<Action> OnEvent(const Event& event) = 0;

  // Whether SlotIdle is an event of its studies.
  virtual bool AsksForIdleSlots() const { return false; }

  // Every trial that may be started, each to its horizon: for checks and forecasts. Where the tuner does not know them
  // (KnowsItsTrials), others of the same space, as many as there may be.
  virtual std::vector<StartTrial> WholeTrials() const = 0;

  // Whether its trials are known before any is measured.
  virtual bool KnowsItsTrials() const { return true; }
};

}  // namespace espalier::tuners
