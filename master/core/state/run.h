// Runs: paths handed to slots, and what they promised. Stored, so that a restarted master knows what it ordered, and an
// audit can tell whether it was necessary. Ids are never used again; outside this master a run is known with the
// leadership that ordered it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "protocol/device.h"
#include "scheduler/run_view.h"
#include "scheduler/slot_id.h"

namespace espalier::master {

enum class PromiseState {
  kOpen,
  kKept,       // the metrics, or the checkpoint, are stored
  kLost,       // nothing will come of it
  kWithdrawn,  // nobody needs it any more
};
std::string_view Name(PromiseState state);
Result<PromiseState> ParsePromiseState(std::string_view name);

// One thing that a run owes at a point of its path. A run has at most one open promise a step and thing owed.
struct Promise {
  PromiseId id;
  Step step;
  Owed owed = Owed::kState;
  PromiseState state = PromiseState::kOpen;
  Time made_at{};
  std::optional<Time> settled_at;
  friend bool operator==(const Promise&, const Promise&) = default;
};

// The life of a run.
struct Training {  // ordered, loading, training or evaluating: it holds its slot
  // Not stored: they start over at the path's start.
  Step at;       // the last step known to be begun or reached
  Time since{};  // when that was heard; Time{}: at its order, or before the state was loaded
  friend bool operator==(const Training&, const Training&) = default;
};
struct Saving {  // the slot is free, promises of states are open
  friend bool operator==(const Saving&, const Saving&) = default;
};
struct Ended {  // no promise is open, none will be
  friend bool operator==(const Ended&, const Ended&) = default;
};
using RunState = std::variant<Training, Saving, Ended>;
// "training", "saving", "ended".
std::string_view Name(const RunState& state);

struct Run {
  RunId id;
  LeadershipId leadership;  // that ordered it
  PlanId plan;
  SlotId slot;                 // that it holds while it trains
  Reservation reservation;     // of the slot's device
  int slots = 1;               // in the shares of so many slots that fits: what it is charged and weighed by
  std::string incarnation;     // of the node manager that it was given to
  Digest128 offer;             // by which it is trained and evaluated
  std::string evaluation;      // the offer's
  std::optional<Point> start;  // the checkpoint it began from; none: from Init
  std::string start_file;      // of that checkpoint; empty: from Init
  std::vector<PathStage> path;
  std::int64_t generation = 1;  // of what its node manager is told; counts up with each change
  bool preempt = false;
  bool failed = false;  // it reported a failure, which has been counted
  std::map<PromiseId, Promise> promises;
  std::map<std::pair<Step, Owed>, PromiseId> open;  // of these, the open ones; as Apply keeps it
  RunState state = Training{};
  Time ordered_at{};
  // What it costs, and whom: device time in microseconds, charged up to `charged_to` in equal parts to the studies
  // whose claims it serves, as they come and go; one that serves none charges the last it served (design section 5).
  std::vector<StudyId> serves;  // sorted
  std::map<StudyId, std::int64_t> charges;
  Time charged_to{};

  bool training() const { return std::holds_alternative<Training>(state); }
  bool ended() const { return std::holds_alternative<Ended>(state); }
  bool HasOpenPromise() const { return !open.empty(); }
  // Where it trains, or its path's start.
  Step at() const;
  // The open promise of what is owed at the step; null if there is none. O(log open promises).
  const Promise* FindOpen(Step step, Owed owed) const;
  friend bool operator==(const Run&, const Run&) = default;
};

// Where its path begins: a point, or step 0 of its root.
Point BeginningOf(const Run& run);

// Where it trains, or its last open promise, whichever is further.
Step EndOf(const Run& run);

// With its open promises.
RunView ViewOf(const Run& run);

// The stage of the run's path that trains `step`; null: none does. O(log stages).
const PathStage* FindStage(const Run& run, Step step);

// Whether the point lies on the run's path, or is where that begins. O(log stages).
bool Passes(const Run& run, Point point);

// The point of the run's path at `step`. REQUIRES: the path, or its start, has it. O(log stages).
Point PointOf(const Run& run, Step step);

}  // namespace espalier::master
