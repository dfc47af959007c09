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
#include <vector>

#include "searchplan/plan/plan_node.h"
#include "searchplan/plan/plan_nodes.h"

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
  PlanNodes nodes;
  std::vector<PlanNodeId> roots;
  std::map<ClaimId, Claim> claims;
  std::set<ClaimId> waiting;                       // of `claims`
  std::set<std::pair<Point, ClaimId>> waiting_at;  // the same, by point
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
                        const PackedConfiguration& configuration);

}  // namespace espalier
