// Answers claims from what is stored, and finishes studies.
#pragma once

#include "master/core/draft.h"

namespace espalier::master {

// Settles each waiting claim that what is new settles (results, failures, the claim itself), with its study's event.
// O(claims that are settled x depth).
void SettleTouched(Draft& draft);

// Law 8: where a state was lost on its way to the store although claims were done there, each of these claims the state
// again, alone: so no claim's state is lost, whatever is killed. Not for trials or studies that were cancelled, nor
// where training failed for good. O(claims at the points).
void ClaimLostStates(Draft& draft);

// Of the touched studies: finishes those that are closing, have no waiting claim left, and await no state at a claim's
// point. O(touched studies x log studies).
void FinishStudies(Draft& draft);

// Settles one waiting claim, with its study's event. Notes whether that is what the study was to stop at.
void Settle(Draft& draft, PlanId plan, ClaimId claim, ClaimState state);

// Appends to the study's numbered events. `answered_at_claim`: see AddStudyEvent.
void AppendEvent(Draft& draft, StudyId study, StudyEvent event, bool answered_at_claim = false);

}  // namespace espalier::master
