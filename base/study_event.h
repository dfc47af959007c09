// What happens in a study: what its clients are told, and a tuner goes by. A study's events are numbered from 1,
// stored, and the same however often they are read.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/claim_state.h"
#include "base/ids.h"
#include "base/metrics.h"
#include "base/units.h"

namespace espalier {

// A new trial was entered.
struct TrialSubmitted {
  TrialId trial;
  friend bool operator==(const TrialSubmitted&, const TrialSubmitted&) = default;
};

// A trial asked for its metric at `step`.
struct ClaimMade {
  ClaimId claim;
  TrialId trial;
  Step step;
  friend bool operator==(const ClaimMade&, const ClaimMade&) = default;
};

// A claim got its answer, for good.
struct ClaimSettled {
  ClaimId claim;
  TrialId trial;
  Step step;
  ClaimState state = ClaimState::kDone;  // never kWaiting
  Metrics metrics;
  std::string message;  // why it failed
  friend bool operator==(const ClaimSettled&, const ClaimSettled&) = default;
};

// Nothing more will be asked for this trial.
struct TrialClosed {
  TrialId trial;
  bool cancelled = false;  // withdrawn, not merely done with
  friend bool operator==(const TrialClosed&, const TrialClosed&) = default;
};

// All of the study's tuner's batch of this number, from 0 on, has been entered: what it asked for precedes this.
struct BatchTaken {
  std::int64_t number = 0;
  friend bool operator==(const BatchTaken&, const BatchTaken&) = default;
};

// A slot would be idle for the study: its tuner is asked for work, and answers with a batch, which may be empty.
struct SlotIdle {
  friend bool operator==(const SlotIdle&, const SlotIdle&) = default;
};

// Every trial is closed and every claim settled. The last event of a study.
struct StudyFinished {
  friend bool operator==(const StudyFinished&, const StudyFinished&) = default;
};

using StudyEvent =
    std::variant<TrialSubmitted, ClaimMade, ClaimSettled, TrialClosed, BatchTaken, SlotIdle, StudyFinished>;

}  // namespace espalier
