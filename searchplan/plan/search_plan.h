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
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/claim_state.h"
#include "base/study_choices.h"
#include "searchplan/plan/plan_node.h"
#include "searchplan/plan/plan_nodes.h"
#include "searchplan/sequence/training_identity.h"

namespace espalier {

// Who shares a plan: all, a team, a study, or a trial alone.
struct Sharing {
  Scope scope = Scope::kTeam;
  std::string team;  // of the scope team
  StudyId study;     // of the scopes study and nobody
  TrialId trial;     // of the scope nobody
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

struct PlanIdentity {
  TrainingIdentity training;
  std::string device_kind;
  Sharing sharing;
  friend bool operator==(const PlanIdentity&, const PlanIdentity&) = default;
};

// What a plan's training begins with where it does not begin at Init: the state at a point of another plan, which other
// code left there. The steps up to it are that code's, so it is part of what a lineage is: only trials that begin with
// the very same state share (docs/decisions/0009-states-of-other-code.md).
struct Origin {
  PlanId plan;
  Point point;
  Digest128 lineage;  // of the point's node
  friend bool operator==(const Origin&, const Origin&) = default;
};

// Unambiguous over all fields: the key by which plans are found, and the root of lineage digests.
Digest128 DigestOf(const PlanIdentity& identity);

// A trial's interest in the metrics at a point (TreeML's request), or in the state there alone. Claims alone order
// training.
struct Claim {
  ClaimId id;
  TrialId trial;
  Point point;
  std::string evaluation;  // evaluation identity: by this alone it is served; or kStateAlone
  ClaimState state = ClaimState::kWaiting;
  friend bool operator==(const Claim&, const Claim&) = default;
};

// No evaluation: such a claim is made where one was done and its state was lost on its way to the store (law 8), and
// where somebody asks for a state that is not stored. It is done once it is.
inline constexpr std::string_view kStateAlone = "state";
inline bool IsForStateAlone(const Claim& claim) { return claim.evaluation == kStateAlone; }

struct SearchPlan {
  PlanId id;
  PlanIdentity identity;
  Digest128 trainer;                           // TrainerDigest of the identity: what a server must offer
  std::pair<Digest128, std::string> cost_key;  // training identity and device kind: plans of one key cost alike
  PlanNodes nodes;
  std::vector<PlanNodeId> roots;
  // Of roots whose training does not begin at Init. Nothing below one is trained, or stored, up to the origin's step.
  std::map<PlanNodeId, Origin> origins;
  std::map<ClaimId, Claim> claims;
  // Derived from the claims.
  std::set<ClaimId> waiting;
  std::set<ClaimId> failed;
  std::unordered_map<Point, std::vector<ClaimId>> claims_at;  // of whatever state, by id
  friend bool operator==(const SearchPlan&, const SearchPlan&) = default;

  const PlanNode& Node(PlanNodeId node) const;  // REQUIRES: it exists
  // Each null if there is none, or no such node.
  const Checkpoint* FindCheckpoint(Point point) const;
  const StateDigest* FindStateDigest(Point point) const;
  const Metrics* FindMetrics(Point point, const std::string& evaluation) const;
  const Failure* FindFailure(Point point) const;
  const std::string* FindEvaluationFailure(Point point, const std::string& evaluation) const;
  const Attempts* FindAttempts(PlanNodeId node, const AttemptKey& key) const;
  // Empty if there are none.
  const std::vector<ClaimId>& ClaimsAt(Point point) const;
};

// A trial's way through the plan, from its root to `leaf`. O(depth).
std::vector<PlanNodeId> LineageTo(const SearchPlan& plan, PlanNodeId leaf);

// The point at `step` on the lineage to `leaf`: under the last node that starts before `step`. REQUIRES: step >= 1.
Point PointOn(const SearchPlan& plan, PlanNodeId leaf, Step step);

// What the lineage begins with; null: it begins at Init. O(depth), O(1) in a plan where every one does.
const Origin* OriginOf(const SearchPlan& plan, PlanNodeId node);

// The same, if it is at the point that the lineage takes the state over: there the plan has it under the origin's file.
const Origin* OriginAt(const SearchPlan& plan, Point point);

// The last checkpoint at or before `point` on its lineage; none: only Init comes before it. O(depth log checkpoints).
std::optional<Point> LastCheckpointBefore(const SearchPlan& plan, Point point);

// The digest that checkpoint files carry: of the plan's identity, what the lineage begins with, and all configurations
// from the root to this node. `origin`: of a root; null: it begins at Init, or is no root.
Digest128 LineageDigest(const SearchPlan& plan, std::optional<PlanNodeId> parent, Step start,
                        const PackedConfiguration& configuration, const Origin* origin = nullptr);

// The same of a node that need not be there. `above`: its parent's digest; of a root, the digest of the plan's
// identity.
Digest128 LineageDigest(const Digest128& above, Step start, const PackedConfiguration& configuration,
                        const Origin* origin = nullptr);

}  // namespace espalier
