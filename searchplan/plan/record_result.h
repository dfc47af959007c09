// What results do to a plan: each function turns something that happened into an edit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "searchplan/plan/plan_edit.h"

namespace espalier {

// Settles the waiting claims that metrics or failures at hand settle: done where the point at which the claim waits has
// its metrics; done (with NaN) at or beyond a diverged point; failed at or beyond another failure, or where its
// evaluation failed for good.
PlanEdit SettleClaims(const SearchPlan& plan);

// As SettleClaims for one claim; nothing if it must wait.
std::optional<ClaimState> SettledState(const SearchPlan& plan, const Claim& claim);

// Where a failure of training stands at or before the point on its lineage, if anywhere: the deepest one's node, its
// earliest step. O(depth log failures).
std::optional<Point> FailingPoint(const SearchPlan& plan, Point point);

// The point whose metrics answer a claim at the point: itself, or the last one of a training that was finished before
// it. O(depth log failures).
Point AnsweredAt(const SearchPlan& plan, Point point);

// Where what settles the claim is waited for: AnsweredAt for metrics; the claim's own point for a state alone.
Point WaitsAt(const SearchPlan& plan, const Claim& claim);

// The metrics that a settled claim is answered with: those stored; NaN for each of `names` if its training diverged.
Metrics AnswerOf(const SearchPlan& plan, const Claim& claim, const std::vector<std::string>& names);

// Why a failed claim failed; empty if nothing stands that says so.
std::string WhyFailed(const SearchPlan& plan, const Claim& claim);

// Joins steps (from, to] trained by `run`, as its worker's log tells, to what is known; repeated parts count once.
PlanEdit RecordTrained(const SearchPlan& plan, PlanNodeId node, const TrainedRange& range);

}  // namespace espalier
