// A node of a search plan, and what is known at its points. A plan may have millions: a node is kept small.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/units.h"
#include "searchplan/plan/sparse.h"
#include "searchplan/sequence/configuration.h"

namespace espalier {

// A place in the plan: after so many steps, the last of them under `node`.
struct Point {
  PlanNodeId node;
  Step step;
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct Checkpoint {
  std::string file;  // name within the checkpoint store
  std::int64_t bytes = 0;
  RunId run;
  Time stored_at{};
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// By metric's name. NaN is a value here: of a diverged training.
using Metrics = std::map<std::string, double>;

// Why training cannot go past a point. Final until the stage is retried.
struct Failure {
  enum class Kind { kDiverged, kTrainer, kOutOfMemory, kCrash };
  Kind kind = Kind::kTrainer;
  std::string message;
  friend bool operator==(const Failure&, const Failure&) = default;
};

std::string_view Name(Failure::Kind kind);
Result<Failure::Kind> ParseFailureKind(std::string_view name);

// What is known at a point.
struct PointRecord {
  std::optional<Checkpoint> checkpoint;
  std::string state_sha256;                // of the state; stays when the checkpoint is evicted; empty: not known
  std::map<std::string, Metrics> metrics;  // by evaluation digest
  std::optional<Failure> failure;
  std::map<std::string, std::string> evaluation_failures;  // by evaluation digest: why it failed for good
  std::int64_t crash_count = 0;                            // of runs that started here and stored nothing after it
  friend bool operator==(const PointRecord&, const PointRecord&) = default;
};

// Steps (from, to] of a node that one run trained, by the worker's own step log; contiguous.
struct TrainedRange {
  RunId run;
  Step from;
  Step to;
  Seconds seconds{0};
  friend bool operator==(const TrainedRange&, const TrainedRange&) = default;
};

struct PlanNode {
  PlanNodeId id;
  std::optional<PlanNodeId> parent;
  Step start;
  PackedConfiguration configuration;
  Digest128 lineage;                 // of the plan's identity and the configurations from the root to this node
  std::vector<PlanNodeId> children;  // by id
  Sparse<std::map<Step, PointRecord>> points;
  std::int64_t root_crash_count = 0;          // of runs that started from Init at this root and stored nothing
  Sparse<std::vector<TrainedRange>> trained;  // at most one a run
  friend bool operator==(const PlanNode&, const PlanNode&) = default;
};

}  // namespace espalier
