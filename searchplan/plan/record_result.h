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
// it. What answers a claim that is done stays the same, whatever fails later (RecordFailure). O(depth + failures).
Point AnsweredAt(const SearchPlan& plan, Point point);

// Where what settles the claim is waited for: AnsweredAt for metrics; the claim's own point for a state alone.
Point WaitsAt(const SearchPlan& plan, const Claim& claim);

// Training does not get to the point. Nothing where a failure stands at or before it on its lineage. Answers stay:
// where training had come to the point or beyond before, on whatever lineage, and is now said to be finished before it,
// it has failed, as it is not deterministic; so has one that is finished before its first step. O(depth log failures),
// for a training that is finished O(nodes beyond), too.
PlanEdit RecordFailure(const SearchPlan& plan, Point point, Failure failure);

// The metrics that a settled claim is answered with: those stored; NaN for each of `names` if its training diverged.
Metrics AnswerOf(const SearchPlan& plan, const Claim& claim, const std::vector<std::string>& names);

// Why a failed claim failed; empty if nothing stands that says so.
std::string WhyFailed(const SearchPlan& plan, const Claim& claim);

// Joins steps (from, to] trained by `run`, as its worker's log tells, to what is known; repeated parts count once.
PlanEdit RecordTrained(const SearchPlan& plan, PlanNodeId node, const TrainedRange& range);

}  // namespace espalier
