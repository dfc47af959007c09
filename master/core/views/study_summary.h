// What is said of one study: its trials, its steps and whether they were worth training, its device time.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "master/core/views/bill.h"

namespace espalier::master {

// Counted from the workers' own step logs, but for claimed and unique. A claim that a divergence settled, or the end
// that a trainer made, counts whole, though nothing is trained past that.
struct StepCounts {
  std::int64_t claimed = 0;     // over the trials: up to the last claim that was done
  std::int64_t unique = 0;      // of those, steps that trials share counted once
  std::int64_t trained = 0;     // by runs that serve or served this study, on its lineages
  std::int64_t re_derived = 0;  // of those: trained before by another run of the plan
  std::int64_t wasted = 0;      // of those: a checkpoint or promise made it unnecessary when the run was ordered
  std::int64_t reused = 0;      // of unique: trained by runs ordered before this study was created, and not by its own;
                                // or by other code, whose states the study reuses
};

// How far the check of a study's trainer is: "off", "waiting" (for a slot), "running", "not done" (the study was
// finished before), else what came of it.
struct StudyCheck {
  std::string state;
  std::string text;  // where it runs; what came of it
};

// Whose states its trials begin with, where there are some.
struct ReusedStudy {
  Reuse reuse;
  std::string code_digest;
};

struct StudySummary {
  StudyId id;
  std::map<std::string, std::int64_t> trials_by_state;
  StepCounts steps;
  double merge_rate = 0;                // claimed / unique; 0 if no claim is done
  double time_weighted_merge_rate = 0;  // the same in measured step times
  Use use;                              // of devices
  Seconds elapsed{0};
  Seconds makespan_bound{0};  // of a finished study, for who works it out (makespan_bound.h)
  std::optional<BestTrial> best;
  std::optional<StudyCheck> check;   // none: the trainer is a server's own, and needs none
  std::optional<ReusedStudy> reuse;  // none: it begins at Init
  std::string held_back;             // why no run is begun for it alone (held_back.h); empty: it may go on
};

// The best of its trials, at the step where it was measured. O(depth).
std::optional<BestTrial> BestOf(const MasterState& state, StudyId study);

// From counters, but for the bound, which is left 0: O(runs under way, and the studies that they serve).
StudySummary Summarize(const MasterState& state, StudyId study, Time now);

}  // namespace espalier::master
