// Runs: paths handed to slots, with ids that are never used again. Stored, so that a restarted master knows what it
// ordered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "scheduler/run_view.h"
#include "scheduler/view.h"

namespace espalier::master {

enum class RunState {
  kTraining,  // ordered, loading, training or evaluating: holds its slot
  kSaving,    // the slot is free, promises are still open
  kEnded,     // every promise is stored or lost
};
std::string_view Name(RunState state);
Result<RunState> ParseRunState(std::string_view name);

enum class PromiseState { kOpen, kStored, kLost, kWithdrawn };
std::string_view Name(PromiseState state);
Result<PromiseState> ParsePromiseState(std::string_view name);

// A target and what became of it. A run has at most one open promise a step.
struct Promise {
  Target target;
  PromiseState state = PromiseState::kOpen;
  Time made_at{};
  std::optional<Time> settled_at;
  friend bool operator==(const Promise&, const Promise&) = default;
};

struct Run {
  RunId id;
  PlanId plan;
  SlotId slot;
  std::string incarnation;     // of the node manager that it was given to
  std::optional<Point> start;  // the checkpoint it began from; none: from Init
  std::vector<PathStage> path;
  std::vector<StudyId> studies;  // whose claims it was ordered for; sorted, unique
  std::int64_t generation = 1;   // counts up when targets or preempt change
  bool preempt = false;
  std::vector<Promise> promises;  // by step; settled ones first among those of one step
  RunState state = RunState::kTraining;
  Time ordered_at{};
  Seconds slot_seconds{0};  // known once training has stopped
  Step at;                  // the last step known to be begun or reached; not stored: starts over at the path's start
  friend bool operator==(const Run&, const Run&) = default;
};

// The open promises' targets, in order of step.
std::vector<Target> OpenTargets(const Run& run);

RunView ViewOf(const Run& run);

}  // namespace espalier::master
