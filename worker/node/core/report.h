// What the node manager tells the master: where its runs stand, and what has happened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "base/ids.h"
#include "base/units.h"

namespace espalier::node {

struct StoredCheckpoint {
  std::string file;  // name within the checkpoint store
  std::int64_t bytes = 0;
  std::string state_sha256;
  Seconds blocking{0};  // how long training stood still for it
};

// Metrics, or a stored checkpoint, or both, at a point.
struct PointReached {
  PlanId plan;
  PlanNodeId plan_node;
  Step step;
  std::string evaluation_digest;  // empty: nothing evaluated here
  std::map<std::string, double> metrics;
  Seconds evaluate_time{0};
  std::optional<StoredCheckpoint> checkpoint;
};

// A target that will not be met.
struct PromiseLost {
  std::int64_t generation = 0;
  Step step;
  std::string why;
};

// Steps `from` (not included) to `to` of a plan node, and the sum of their times.
struct StepsTrained {
  PlanNodeId plan_node;
  Step from;
  Step to;
  Seconds time{0};
};

enum class FaultKind { kCrash, kTrainer, kOutOfMemory, kDiverged, kEvaluation, kCheckpoint };

// Training stopped by a fault at `step`: the one reached, or being trained.
struct RunFailed {
  FaultKind kind = FaultKind::kCrash;
  Step step;
  PlanNodeId plan_node;
  std::string message;
};

// The slot is free; saves may still be on their way.
struct RunEnded {
  Step step;
  Seconds slot_time{0};
  Seconds load_time{0};
};

using ReportKind = std::variant<PointReached, PromiseLost, StepsTrained, RunFailed, RunEnded>;

struct Report {
  std::int64_t number = 0;  // counts up from 1
  RunId run;
  ReportKind kind;
};

enum class RunState {
  kTraining,  // waits for its slot, or holds it
  kSaving,    // the slot is free, checkpoints are on their way
  kEnded,     // every promise is stored or reported lost
};

struct RunStatus {
  RunId run;
  std::int64_t generation = 0;
  Step step;  // begun or reached
  RunState state = RunState::kTraining;
  friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

}  // namespace espalier::node
