// Stages as people name them, by a point that they reach or pass: `NODE@STEP`; who wants them, and where they begin. By
// the index of needs: nothing here walks all trials, all runs, or a whole plan.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "master/core/state/master_state.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

// "7@20".
std::string NameOf(Point point);

// The stage with which the run begins: of its path, or the evaluation of its start.
StageBeginning StageOf(const Run& run);

// The plan that has the point, if the caller may know of it: the team's own plans; where everyone shares, points at
// which a claim of the caller's team was made, or at or past which one waits or failed. Error: kNotFound ("stage"), in
// one wording. O(plans log nodes), and what WantingClaims and FailedClaims cost where everyone shares.
Result<const SearchPlan*> FindStage(const MasterState& state, Point point, const Caller& caller);

// The waiting claims that want what is trained up to the point, and to measure it: those at the point and below it, up
// to the next checkpoints. Looks at `places_max` places and branches at most; `complete`: there were no more.
// O(min(places and branches below, places_max) log).
struct WantingClaims {
  std::vector<ClaimId> claims;
  bool complete = true;
};
WantingClaims ClaimsWanting(const MasterState& state, const SearchPlan& plan, Point point, std::size_t places_max);

// The failed claims at the point or beyond it, without those that were made again since. O(failed claims of the plan x
// depth).
std::vector<ClaimId> ClaimsFailedAt(const SearchPlan& plan, Point point);

// Whether the lineage of `point` passes `through`, or ends there. O(depth).
bool IsAtOrBeyond(const SearchPlan& plan, Point point, Point through);

// The stage that lies at the point, as the index of needs has it.
struct NeededStage {
  Point end;        // its end: the first place at or after the point on its node
  Point source;     // the state from which its path is trained, or will be
  Point head_end;   // the end of its path's first stage
  PlanNodeId head;  // the node of its path's first stage
};
// None: nobody wants training there now, or what is wanted there is promised. O(depth).
std::optional<NeededStage> NeededAt(const MasterState& state, const SearchPlan& plan, Point point);

}  // namespace espalier::master
