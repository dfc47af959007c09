// Every change of a search plan, as data: what memory applies is what the database stores.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "searchplan/plan/search_plan.h"

namespace espalier {

struct AddPlanNode {
  PlanNodeId id;
  std::optional<PlanNodeId> parent;
  Step start;
  PackedConfiguration configuration;
  std::optional<Origin> origin = {};  // of a root alone
  StudyId caused_by = {};             // whose trial enters it
  friend bool operator==(const AddPlanNode&, const AddPlanNode&) = default;
};

struct AddClaim {
  Claim claim;
  friend bool operator==(const AddClaim&, const AddClaim&) = default;
};

// Of a waiting claim.
struct SettleClaim {
  ClaimId claim;
  ClaimState state = ClaimState::kDone;
  friend bool operator==(const SettleClaim&, const SettleClaim&) = default;
};

// Metrics are stored once: the first stay.
struct AddMetrics {
  Point point;
  std::string evaluation;
  Metrics metrics;
  friend bool operator==(const AddMetrics&, const AddMetrics&) = default;
};

struct SetCheckpoint {
  Point point;
  Checkpoint checkpoint;
  StateDigest state;
  friend bool operator==(const SetCheckpoint&, const SetCheckpoint&) = default;
};

// The file is gone or damaged. Nothing happens if another file has taken its place.
struct DropCheckpoint {
  Point point;
  std::string file;
  friend bool operator==(const DropCheckpoint&, const DropCheckpoint&) = default;
};

// None: it is cleared.
struct SetFailure {
  Point point;
  std::optional<Failure> failure;
  friend bool operator==(const SetFailure&, const SetFailure&) = default;
};

// None: it is cleared.
struct SetEvaluationFailure {
  Point point;
  std::string evaluation;
  std::optional<std::string> message;
  friend bool operator==(const SetEvaluationFailure&, const SetEvaluationFailure&) = default;
};

// None: they are forgotten.
struct SetAttempts {
  PlanNodeId node;
  AttemptKey key;
  std::optional<Attempts> attempts;
  friend bool operator==(const SetAttempts&, const SetAttempts&) = default;
};

// Replaces what is known of this run on this node.
struct SetTrainedRange {
  PlanNodeId node;
  TrainedRange range;
  friend bool operator==(const SetTrainedRange&, const SetTrainedRange&) = default;
};

// What is known in all: clipped, and added to what was stored before.
struct SetMeasurement {
  PlanNodeId node;
  CostKind kind = CostKind::kStep;
  Measurement measurement;
  friend bool operator==(const SetMeasurement&, const SetMeasurement&) = default;
};

using PlanChange = std::variant<AddPlanNode, AddClaim, SettleClaim, AddMetrics, SetCheckpoint, DropCheckpoint,
                                SetFailure, SetEvaluationFailure, SetAttempts, SetTrainedRange, SetMeasurement>;
using PlanEdit = std::vector<PlanChange>;

// REQUIRES: the change fits the plan (nodes exist, ids are new, the claim waits, ...).
void Apply(SearchPlan& plan, const PlanChange& change);

// One line, for logs and golden tests.
std::string Print(const PlanChange& change);

}  // namespace espalier
