// What stays in memory of a study that is retired. Some time after it is finished, all that nobody but its own views
// and calls looks at leaves memory: its trials, claims, events and answered requests, and runs that served nobody else.
// Whoever needs them reads them from the database (master/core/history_store.h). Plan nodes stay, with what is known
// under them, and so do the states that the study keeps, its counts and its bill.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/point.h"
#include "base/units.h"
#include "master/core/state/step_ledger.h"
#include "master/core/state/trial_index.h"

namespace espalier::master {

// A state that a study keeps from being evicted.
struct KeptState {
  PlanId plan;
  Point point;
  friend bool operator==(const KeptState&, const KeptState&) = default;
};

// As it was when the study was retired; but for what it keeps, nothing of it changes.
struct RetiredStudy {
  Time at{};
  std::array<std::int64_t, kTrialStandingCount> trials{};  // by their standing
  std::int64_t claimed_steps = 0;                          // as TrialIndex has it
  std::optional<BestTrial> best;                           // at the step where it was measured
  StepTotals steps;
  std::int64_t device_time = 0;  // charged, in microseconds
  std::int64_t shared_time = 0;  // of that, by runs that were charged to others, too
  std::vector<KeptState> kept;   // one as often as there are reasons
  friend bool operator==(const RetiredStudy&, const RetiredStudy&) = default;
};

// A study whose turn to be retired has come: what it keeps is being listed.
struct Retiring {
  StudyId study;
  std::size_t seen = 0;  // of its trials and events, whichever are more
  std::vector<KeptState> kept;
};

}  // namespace espalier::master
