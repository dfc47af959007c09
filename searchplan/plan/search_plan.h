// The search plan: a prefix tree of hyper-parameter configurations shared by all trials of one training identity,
// device kind and scope (TreeML 4.2). Nodes are only ever added. Invariants: no two children of a node start at the
// same step with the same configuration; a child starts after its parent's start and differs from it; a point (node,
// step) has start < step. Not thread-safe; owned by the event loop. Changes only by Apply
// (searchplan/plan/plan_edit.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/units.h"
#include "searchplan/sequence/configuration.h"

namespace espalier {

// What decides a training's bits besides the sequences.
struct TrainingIdentity {
  std::string trainer;
  std::string code_digest;
  std::string data;
  std::string data_digest;
  std::int64_t step_updates = 0;  // optimizer updates a step; 0: a step is an epoch
  Schema schema;
  friend bool operator==(const TrainingIdentity&, const TrainingIdentity&) = default;
};

struct PlanIdentity {
  TrainingIdentity training;
  std::string device_kind;
  std::string scope;  // who shares: "everyone", "team:NAME", "study:ID", or "trial:ID" (nobody)
  friend bool operator==(const PlanIdentity&, const PlanIdentity&) = default;
};

// Unambiguous over all fields: the key by which plans are found, and the root of lineage digests.
Digest128 DigestOf(const PlanIdentity& identity);

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
  Configuration configuration;
  Digest128 lineage;                 // of the plan's identity and the configurations from the root to this node
  std::vector<PlanNodeId> children;  // by id
  std::map<Step, PointRecord> points;
  std::int64_t root_crash_count = 0;  // of runs that started from Init at this root and stored nothing
  std::vector<TrainedRange> trained;  // at most one a run
  friend bool operator==(const PlanNode&, const PlanNode&) = default;
};

enum class ClaimState { kWaiting, kDone, kFailed, kCancelled };
std::string_view Name(ClaimState state);
Result<ClaimState> ParseClaimState(std::string_view name);

// A trial's interest in the metrics at a point (TreeML's request). Claims alone order training.
struct Claim {
  ClaimId id;
  TrialId trial;
  Point point;
  std::string evaluation;  // evaluation digest
  ClaimState state = ClaimState::kWaiting;
  friend bool operator==(const Claim&, const Claim&) = default;
};

struct SearchPlan {
  PlanId id;
  PlanIdentity identity;
  std::map<PlanNodeId, PlanNode> nodes;
  std::vector<PlanNodeId> roots;
  std::map<ClaimId, Claim> claims;
  std::set<ClaimId> waiting;  // of `claims`
  friend bool operator==(const SearchPlan&, const SearchPlan&) = default;

  const PlanNode& Node(PlanNodeId node) const;  // REQUIRES: it exists
  const PointRecord* FindPoint(Point point) const;
  const Metrics* FindMetrics(Point point, const std::string& evaluation) const;
};

// A trial's way through the plan, from its root to `leaf`.
std::vector<PlanNodeId> LineageTo(const SearchPlan& plan, PlanNodeId leaf);

// The point at `step` on the lineage to `leaf`: under the last node that starts before `step`. REQUIRES: step >= 1.
Point PointOn(const SearchPlan& plan, PlanNodeId leaf, Step step);

// The digest that checkpoint files carry: of the plan's identity and all configurations from the root to this node.
Digest128 LineageDigest(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                        const Configuration& configuration);

}  // namespace espalier
