// Trials as they are entered, claimed, closed: what several calls of clients do alike.
#pragma once

#include <optional>

#include "master/core/calls/new_trial.h"
#include "master/core/draft.h"

namespace espalier::master {

// How far the study shares: as it asks for, but with nobody else where it is not known what its data is.
Scope ScopeOf(const Study& study);

// The plan that a trial of the study belongs to; `trial` matters to the scope nobody alone. PlanFor adds it if it is
// new. O(log plans).
PlanIdentity PlanIdentityOf(const Study& study, TrialId trial);
PlanId PlanFor(Draft& draft, const Study& study, TrialId trial);

// Enters the trial's whole lineage into the plan, and the trial into the study. `origin`: what its training begins
// with; none: Init. O(joint segments x log nodes).
TrialId EnterTrial(Draft& draft, StudyId study, const ResolvedTrial& resolved, PlanId plan,
                   const std::optional<Origin>& origin);

// REQUIRES: `step` is past the trial's last claim and at most its horizon; or a claim failed there.
// O(depth).
ClaimId MakeClaim(Draft& draft, StudyId study, TrialId trial, Step step);

// Claims the state at the claim's point, too, if it is not stored. REQUIRES: the trial has no such claim. O(depth).
void ClaimItsState(Draft& draft, PlanId plan, ClaimId claim);

// Closes the trial, unless it is closed already; `cancelled`: withdraws its waiting claims first. O(claims
// of the trial x depth).
void EndTrial(Draft& draft, TrialId trial, bool cancelled);

// The same for every trial; the study takes no more.
void CloseStudyWithTrials(Draft& draft, StudyId study, bool cancelled);

}  // namespace espalier::master
