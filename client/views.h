// How studies and trials stand: what the server says of them, as of when it was asked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/metrics.h"
#include "base/study_choices.h"
#include "base/units.h"
#include "client/space/trial_text.h"

namespace espalier {

// The best value of a study's metric, and where it was measured. Never NaN.
struct BestView {
  TrialId trial;
  Step step;
  std::string metric;
  double value = 0;
};

// One of many studies.
struct StudyEntry {
  StudyId id;
  std::string name;
  std::string user;  // who created it
  std::string trainer;
  Goal goal = Goal::kMaximize;
  bool finished = false;
  Seconds elapsed{0};            // from creation to the end, or to now
  std::optional<BestView> best;  // none: no claim is done
};

struct StudyView : StudyEntry {
  std::map<std::string, std::int64_t> trials;  // how many are waiting, running, idle, done, failed, cancelled
  std::int64_t claimed_steps = 0;              // of all trials, up to their last settled claims
  std::int64_t unique_steps = 0;               // of these: what trials share counted once
  std::int64_t trained_steps = 0;              // each time it was
  std::int64_t reused_steps = 0;               // of `unique_steps`: trained before the study asked
  double merge_rate = 0;                       // claimed over unique; 0: no claim is done
  Seconds slot_time{0};                        // of devices, as charged to it
  Seconds shared_time{0};                      // of that, by runs of which others were charged a part, too
  Seconds saved_time{0};                       // that its trials would have taken besides if each were trained alone
  double weight = 1;                           // among the studies of its team
  std::string definition;                      // as it was created with
  Keep keep = Keep::kBest;                     // which of its states are never evicted now
};

// The state that a trial begins with, where its study reuses another's: up to `step` its training is that code's.
struct OriginView {
  StudyId study;            // the other one
  std::string code_digest;  // of the code that trained the state
  Step step;
};

struct TrialView {
  TrialId id;
  std::string state;  // "waiting", "running", "idle" (open, nothing is waited for), "done", "failed", "cancelled"
  Step steps;         // of the last settled claim; 0: there is none
  Step horizon;       // the most that may ever be asked for
  TrialText sequences;
  std::optional<double> metric;         // the study's, at `steps`; NaN where training diverged
  std::map<Step, Metrics> evaluations;  // of settled claims; of a trial that was asked for alone, all on its way
  std::string state_sha256;             // of its training state at `steps`: equal for equal trainings; may be empty
  std::string message;                  // why it failed
  std::optional<OriginView> origin{};   // none: it begins at Init
};

// Which trials of a study.
struct TrialQuery {
  bool best_first = false;            // by the study's goal, then those without a value; else as they were submitted
  std::vector<std::string> states{};  // as TrialView says; empty: all
  std::size_t count_max = SIZE_MAX;
};

// A training state that is stored.
struct CheckpointView {
  Step step;
  std::string file;  // its name in the store
  std::int64_t bytes = 0;
};

// What trials would cost. What is not known is none, never a guess (docs/forecasts.md).
struct ForecastView {
  std::int64_t trials = 0;
  std::int64_t total_steps = 0;               // of all trials to their horizons
  std::int64_t unique_steps = 0;              // what they share counted once
  double merge_rate = 0;                      // the one over the other
  std::optional<std::int64_t> trained_steps;  // of the unique ones: already, and what remains
  std::optional<std::int64_t> remaining_steps;
  std::int64_t reused_steps = 0;                 // of the trained ones: they come with states of another study
  std::optional<Seconds> slot_time;              // of what remains: on one slot
  std::optional<Seconds> critical_path;          // however many slots there are
  std::optional<std::int64_t> checkpoint_bytes;  // of all kept at once
};

// What steps returned as they were trained, by metric's name.
using TrainingCurves = std::map<std::string, std::map<Step, double>>;

}  // namespace espalier
