// What trainings that really happened took and measured, for simulated ones to take and measure again. A point of a
// training is known by its lineage: whose training it is, and every hyper-parameter's value at every step up to there.
// So what trials shared is the same whoever reaches it, and however the simulated service shares.
//
// A point on a recorded trial's way that was never evaluated is estimated: between two evaluations on that way on the
// straight line, before the first and past the last as they were. What was never trained on a recorded trial's way
// takes what the record estimates; a step that is on none takes what the cost model (scheduler/cost_sums.h) makes of
// the values in force and of all that was measured.
//
// Filled once, then only read. Pure. Memory: an entry of a hash table for each different step.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "scheduler/cost_sums.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

// Whose training, of which steps.
struct TrainingName {
  std::string trainer;
  std::string data;
  StepMeaning step;
  friend auto operator<=>(const TrainingName&, const TrainingName&) = default;
};

// Steps under one plan node, up to `until`.
struct RecordedStretch {
  Step until;
  std::map<CostKind, Seconds> costs;  // of one unit each; kinds of time alone. What is missing is not known
  bool is_measured = false;           // there; else these are estimates
};

// One trial's training, from Init to its horizon.
struct RecordedTraining {
  TrainingName name;
  std::map<std::string, std::string> sequences;  // as submitted
  ValueTypes types;                              // of all that they name
  std::vector<RecordedStretch> stretches;        // each further than the one before, the last to the horizon
  std::map<Step, Metrics> metrics;               // wherever it was evaluated
};

class RecordedTrainings {
 public:
  // Error: kInvalidArgument, with the hyper-parameter's name as field, of a sequence that makes no sense or has no
  // type. O(steps x hyper-parameters). REQUIRES: a stretch at least.
  Result<void> Add(const RecordedTraining& training);

  // States of these trainings, as worker processes compute them.
  static std::uint64_t StateAfterInit(const TrainingName& name);
  // Whether neutral values are named or left out makes no difference.
  static std::uint64_t StateAfterStep(std::uint64_t state, const worker::Values& values);

  // How long the last step up to the state takes, or evaluating or saving it. `values`: in force in that step. None:
  // nothing of the kind is recorded of such trainings.
  std::optional<Seconds> TimeAt(CostKind kind, const TrainingName& name, std::uint64_t state, Step step,
                                const worker::Values& values) const;
  // Of Init (kSetUp), or of loading a state: in the mean. None: likewise.
  std::optional<Seconds> TimeToBegin(CostKind kind, const TrainingName& name) const;

  // Whether a step up to this state was trained, and whether the state was evaluated; else both are estimated.
  bool WasTrained(std::uint64_t state, Step step) const;
  bool WasEvaluated(std::uint64_t state, Step step) const;
  // Error: kNotFound, if the point is on no recorded trial's way, or on one that was never evaluated.
  Result<Metrics> MetricsAt(std::uint64_t state, Step step) const;

 private:
  // All that is known of trainings of one name.
  struct Costs {
    CostSums sums;
    std::map<CostKind, Measurement> begins;
  };
  struct Way {
    std::vector<RecordedStretch> stretches;
    std::map<Step, Metrics> metrics;
  };
  void Learn(Costs& costs, const RecordedStretch& stretch, const worker::Values& values, std::int64_t steps);
  const Way* Find(std::uint64_t state) const;
  // Null: the step is past its end.
  static const RecordedStretch* StretchAt(const Way& way, Step step);

  std::vector<Way> ways_;
  std::unordered_map<std::uint64_t, std::size_t> way_by_state_;  // of a trial that passes it: the first that was added
  std::unordered_set<std::uint64_t> learned_;                    // states with which measured stretches begin
  std::map<TrainingName, Costs> costs_;
};

}  // namespace espalier::sim
