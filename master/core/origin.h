// With what a trial begins whose study reuses another's states (docs/decisions/0009-states-of-other-code.md).
#pragma once

#include <optional>

#include "master/core/calls/new_trial.h"
#include "master/core/draft.h"
#include "master/core/state/visibility.h"

namespace espalier::master {

// Whether the study may reuse what its specification names. Errors, of the field "reuse_from_study_id": kNotFound for a
// study that the caller may not see; kInvalidArgument where no state of it can be of use: steps that mean something
// else, a hyper-parameter that the study's trainer does not have, states that are nobody else's, or the very plan that
// the study shares in anyway.
Result<void> CheckReuse(const MasterState& state, const Caller& caller, const Study& study);

// The state that the trial would begin with: of those that the study which is reused, or whatever that reuses, left on
// the trial's path, the deepest whose checkpoint stands since `before` or longer; at or before the steps that the trial
// asks for first, and those of the specification. Of equally deep ones, that which the most of the reused study's own
// code has trained. None: the trial begins at Init, or with a state of its own plan. `plan`: that the trial enters;
// none: a new one. O(joint segments x log nodes + states on the path); nothing for a study that reuses none.
std::optional<Origin> FindOrigin(const MasterState& state, const Study& study, const ResolvedTrial& trial,
                                 std::optional<PlanId> plan, Time before);

// With what a trial begins that goes on from `before`, in its plan: as that one does, unless it leaves its way earlier
// or ends before; then as FindOrigin says.
std::optional<Origin> OriginOfContinuation(const MasterState& state, const Study& study, const ResolvedTrial& trial,
                                           const Trial& before);

// Where something waits that begins with a state of another plan: takes it over, as long as its file stands; else fails
// what waits, since nobody may train that state anew but the code that left it. O(1) unless something waits so; then
// O(what waits under those roots x depth).
void TakeOverStates(Draft& draft);

// The file is gone, or is to go: where it was stored, and wherever plans begin with it. O(those x depth).
void DropFile(Draft& draft, PlanId plan, Point point, const std::string& file);

}  // namespace espalier::master
